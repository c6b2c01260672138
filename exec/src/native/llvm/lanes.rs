//! The forms of elementary functions that take several floats in a register, which vectorised loops call.
//!
//! LLVM learns of them by an attribute of the scalar form, which maps it to others by their numbers of lanes.

use regraft_math::Forms;

use super::super::emitter::{Function, Touches};
use super::shared::put;

/// A form of a function.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub(super) name: String,
    pub(super) address: *const u8,
    /// The number of floats in a register.
    pub(super) count: usize,
}

/// The forms of a function that this CPU has registers for; they have the bits of the scalar one.
pub(super) fn lanes_of(function: &Function) -> Vec<Lanes> {
    let name = function.name.trim_start_matches("regraft_");
    let Some(forms) = Forms::named(name).filter(|_| function.touches == Touches::Nothing) else {
        return Vec::new();
    };
    let form = |count: usize| {
        let address = forms.lanes(count)?.cast::<u8>();
        Some(Lanes { name: format!("{}_x{count}", function.name), address, count })
    };
    [2, 4, 8].into_iter().filter_map(form).collect()
}

/// The attribute of the scalar form, with a blank before it.
pub(super) fn attribute(function: &Function, forms: &[Lanes]) -> String {
    if forms.is_empty() {
        return String::new();
    }
    let operands = "v".repeat(function.params.len());
    let mapping = |form: &Lanes| {
        let Lanes { name, count, .. } = form;
        format!("_ZGV_LLVM_N{count}{operands}_{}({name})", function.name)
    };
    let mappings: Vec<String> = forms.iter().map(mapping).collect();
    format!(" \"vector-function-abi-variant\"=\"{}\"", mappings.join(","))
}

/// Declares the forms of a function.
pub(super) fn declare(text: &mut String, function: &Function, forms: &[Lanes]) {
    for form in forms {
        let ty = format!("<{} x double>", form.count);
        let params = vec![&*ty; function.params.len()].join(", ");
        let effects = "nounwind willreturn memory(none)";
        put(text, format_args!("declare {ty} @{}({params}) {effects}\n", form.name));
    }
}

/// Keeps forms that nothing calls before loops become vectors.
pub(super) fn keep(text: &mut String, forms: &[Lanes]) {
    if forms.is_empty() {
        return;
    }
    let names: Vec<String> = forms.iter().map(|form| format!("ptr @{}", form.name)).collect();
    let (count, names) = (names.len(), names.join(", "));
    let list = format!("appending global [{count} x ptr] [{names}], section \"llvm.metadata\"");
    put(text, format_args!("@llvm.compiler.used = {list}\n"));
}

#[cfg(test)]
mod tests {
    use super::super::super::emitter::Arg;
    use super::*;

    #[test]
    fn llvm_learns_of_forms_by_an_attribute() {
        let function = Function {
            name: "regraft_atan2",
            address: std::ptr::null(),
            params: &[Arg::Double, Arg::Double],
            result: Some(Arg::Double),
            touches: Touches::Nothing,
        };
        let form =
            Lanes { name: "regraft_atan2_x4".to_owned(), address: std::ptr::null(), count: 4 };
        let forms = [form];
        assert_eq!(
            attribute(&function, &forms),
            " \"vector-function-abi-variant\"=\"_ZGV_LLVM_N4vv_regraft_atan2(regraft_atan2_x4)\""
        );
        let mut text = String::new();
        declare(&mut text, &function, &forms);
        keep(&mut text, &forms);
        assert_eq!(
            text,
            "declare <4 x double> @regraft_atan2_x4(<4 x double>, <4 x double>) \
             nounwind willreturn memory(none)\n\
             @llvm.compiler.used = appending global [1 x ptr] [ptr @regraft_atan2_x4], \
             section \"llvm.metadata\"\n"
        );
        assert_eq!(attribute(&function, &[]), "");
    }
}
