use super::*;

fn read(text: &str) -> Pipeline {
    parse_pipeline(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn messages(text: &str) -> Vec<String> {
    let errors = parse_pipeline(text).expect_err("it is wrong");
    for error in &errors {
        for label in error.labels() {
            assert!(label.span.end <= text.len(), "{error:?}");
        }
    }
    errors.iter().map(|error| error.message().to_owned()).collect()
}

const DESIGN: &str =
    "inline{max-size=80}, sroa, fix{max=8}(sccp, gvn, dce), loop(licm, unroll{factor=4}), verify";

#[test]
fn the_example_prints_as_it_is_written() {
    let pipeline = read(DESIGN);
    assert_eq!(pipeline.to_string(), DESIGN);
    assert_eq!(pipeline.passes.len(), 5);
    assert_eq!(pipeline.passes[0].options[0].name, "max-size");
    assert_eq!(pipeline.passes[0].options[0].value, OptionValue::Int(80));
    assert_eq!(&DESIGN[pipeline.passes[0].options[0].value_span.clone()], "80");
    assert_eq!(pipeline.passes[2].children.as_ref().map(Vec::len), Some(3));
    assert_eq!(&DESIGN[pipeline.passes[4].span.clone()], "verify");
}

#[test]
fn every_kind_of_value_is_read_and_printed() {
    let text = r#"p{a, b=false, c=-3, d=0.5, e=naive-plan, f="x \"y\" \n z", g=-inf, h=0x10}()"#;
    let pipeline = read(text);
    let values: Vec<&OptionValue> = pipeline.passes[0].options.iter().map(|o| &o.value).collect();
    assert_eq!(
        values,
        [
            &OptionValue::Bool(true),
            &OptionValue::Bool(false),
            &OptionValue::Int(-3),
            &OptionValue::Float(0.5),
            &OptionValue::Word("naive-plan".to_owned()),
            &OptionValue::Str("x \"y\" \n z".to_owned()),
            &OptionValue::Float(f64::NEG_INFINITY),
            &OptionValue::Int(16),
        ]
    );
    assert_eq!(read(&pipeline.to_string()), pipeline);
    assert_eq!(pipeline.passes[0].children, Some(Vec::new()));
}

#[test]
fn white_space_comments_and_groups_do_not_matter() {
    let pipeline = read("\n a , # first\n ( b,c{ x = 1 } )\n");
    assert_eq!(pipeline.to_string(), "a, (b, c{x=1})");
    assert_eq!(read(&pipeline.to_string()), pipeline);
    assert_eq!(read("").passes.len(), 0);
}

#[test]
fn all_errors_are_reported_in_one_run() {
    let found = messages("a, , b{x=}, c{y=1, y=2}, d(e, = f), 'g");
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found[0].contains("found `,`"), "{found:#?}");
    assert!(found[1].contains("expected a value, found `}`"), "{found:#?}");
    assert!(found[2].contains("`y` is given twice"), "{found:#?}");
    assert!(found[3].contains("found `=`"), "{found:#?}");
    assert!(found[4].contains("unexpected character"), "{found:#?}");
}

#[test]
fn what_is_missing_at_the_end_is_named() {
    assert_eq!(messages("a(b, c"), ["expected `)`, found the end"]);
    assert_eq!(messages("a{x=\"1"), ["the string is not closed"]);
    assert!(messages("a{x=99999999999999999999}")[0].contains("does not fit i64"));
}

#[test]
fn nesting_and_length_are_limited() {
    let deep = "a(".repeat(20_000);
    assert_eq!(messages(&deep), ["passes are nested more than 64 deep"]);
    assert!(messages(&"(".repeat(100_000))[0].contains("longer than"));
    let allowed = format!("{}{}", "f(".repeat(64), ")".repeat(64));
    assert_eq!(read(&allowed).to_string(), allowed);
}
