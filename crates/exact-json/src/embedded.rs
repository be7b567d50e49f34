//! [`Json`] inside a `serde_json` document: embedded as text, so that number literals, member order, repeated
//! members and lone surrogates survive. Only works with `serde_json`, whose [`RawValue`] carries it.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::reader::parse_own;
use super::{Json, parse_wrapped, to_compact};

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(to_compact(self))
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        // The document around it was read within a limit, or is our own.
        let read = parse_wrapped(text.get().as_bytes(), usize::MAX);
        read.map(|it| it.0).map_err(D::Error::custom)
    }
}

impl Json {
    /// A serializable value as JSON, members in field order.
    pub fn of(document: &impl Serialize) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(document)?;
        parse_own(&text).map_err(<serde_json::Error as serde::ser::Error>::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        name: String,
        value: Json,
    }

    #[test]
    fn a_value_keeps_its_text_inside_a_document() {
        for text in [
            r#"{"b":1.0,"a":[1e400,-0,9007199254740993],"a":null}"#,
            r#"["\ud800","a\u0000","😀",true,false]"#,
            "null",
        ] {
            let holder = Holder {
                name: "x\u{200b}".to_owned(),
                value: super::super::parse_str(text).unwrap(),
            };
            let json = Json::of(&holder).unwrap();
            assert_eq!(to_compact(json.get("value").unwrap()), text);
            let read: Holder = serde_json::from_str(&json.to_string()).unwrap();
            assert_eq!(read, holder);
        }
    }

    #[test]
    fn a_value_of_any_depth_can_be_embedded() {
        let deep = (0..400).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
        let json = Json::of(&vec![deep.clone()]).unwrap();
        assert_eq!(json, Json::Array(vec![deep]));
    }
}
