//! Schemas of types that are serialised as another type.

/// Gives a type that is serialised as another one the schema of that one.
///
/// ```
/// struct Name(&'static str);
///
/// skillpm_format::schema_of!(Name as String);
/// # let _ = Name("pdf").0;
/// ```
#[macro_export]
macro_rules! schema_of {
    ($kind:ty as $form:ty) => {
        impl ::schemars::JsonSchema for $kind {
            fn inline_schema() -> bool {
                <$form as ::schemars::JsonSchema>::inline_schema()
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                <$form as ::schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                <$form as ::schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}
