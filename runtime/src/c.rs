//! The functions that object files and programs in C call. The headers that `regraft emit --header` writes declare
//! those for programs.

// C passes addresses.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use regraft_exec::typed::c::{self, Image, Loaded};

use crate::{Diagnostic, parse};

/// An error, as C sees it.
struct Error {
    message: CString,
    report: CString,
}

impl Error {
    fn new(error: &Diagnostic) -> Box<Self> {
        let text = |text: String| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        let (message, report) = (error.message().to_owned(), error.render(false));
        Box::new(Self { message: text(message), report: text(report) })
    }
}

/// Calls the function of an image for its function in C. Gives an error, or null.
///
/// # Safety
/// As of [`Loaded::call`], whose arguments these are; the image is one of an object file.
#[unsafe(no_mangle)]
unsafe extern "C" fn regraft_call(
    image: &'static Image,
    words: *const u64,
    result: *mut c_void,
) -> Option<Box<Error>> {
    // SAFETY: the caller says so.
    let call = || Loaded::of(image, parse).and_then(|loaded| unsafe { loaded.call(words, result) });
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Error::new(&error)),
        Err(panic) => Some(Error::new(&Diagnostic::error(message(&*panic)))),
    }
}

#[cold]
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("this is an error in Regraft: {}", text.unwrap_or("it panicked"))
}

#[unsafe(no_mangle)]
extern "C" fn regraft_error_message(error: &Error) -> *const c_char {
    error.message.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn regraft_error_report(error: &Error) -> *const c_char {
    error.report.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn regraft_error_free(error: Option<Box<Error>>) {
    drop(error);
}

/// # Safety
/// As of [`c::free`].
#[unsafe(no_mangle)]
unsafe extern "C" fn regraft_free(memory: *mut c_void) {
    // SAFETY: the caller says so.
    unsafe { c::free(memory) };
}
