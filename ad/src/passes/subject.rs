//! Options of the passes that differentiate: which function, and by which parameters.

use regraft_ir::{Diagnostic, Function, Module, Symbol, suggest};

/// The function of that name, or the first one, and which of its parameters are named by numbers.
///
/// # Errors
/// If there is no such function or parameter.
pub(super) fn subject(
    module: &Module,
    name: &str,
    wrt: Option<&[usize]>,
) -> Result<(Symbol, Vec<bool>), Diagnostic> {
    let found = if name.is_empty() { module.functions().next() } else { module.function(name) };
    let Some(f) = found else {
        if name.is_empty() {
            return Err(Diagnostic::error("there is no function to differentiate"));
        }
        let error = Diagnostic::error(format!("there is no function @{name} to differentiate"));
        return Err(match suggest(name, module.functions().map(Function::name_str)) {
            Some(near) => error.help(format!("did you mean `function={near}`?")),
            None => error,
        });
    };
    Ok((f.name(), active(wrt, f.param_types().len())?))
}

/// Numbers from 1, separated by commas; `None` for no text.
pub(super) fn numbers(text: &str) -> Result<Option<Vec<usize>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let parts = text.split(',').map(str::trim);
    let numbers = parts.map(|part| match part.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("`{part}` is no number of a parameter; the first one is 1")),
    });
    numbers.collect::<Result<_, _>>().map(Some)
}

/// By parameter, of `count`, whether it is named by its number.
fn active(wrt: Option<&[usize]>, count: usize) -> Result<Vec<bool>, Diagnostic> {
    let Some(wrt) = wrt else { return Ok(vec![true; count]) };
    let mut active = vec![false; count];
    for &n in wrt {
        match active.get_mut(n - 1) {
            Some(place) => *place = true,
            None => {
                let message = format!("there is no parameter {n}: the function has {count}");
                return Err(Diagnostic::error(message));
            }
        }
    }
    Ok(active)
}
