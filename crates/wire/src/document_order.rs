//! Where in a JSON text the fields stand that somebody complains about. Objects that were read know no order; upstream
//! complains while it reads.

use std::{collections::BTreeMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The fields that are looked for, as a tree; each place has the complaints about it.
#[derive(Default)]
struct Wanted {
    children: BTreeMap<String, Wanted>,
    complaints: Vec<Complaint>,
    /// How often the field was met.
    met: usize,
}

struct Complaint {
    index: usize,
    /// Whether it is about a field that is given twice, and so about its second place.
    is_duplicate: bool,
}

/// Sorts complaints by the place of their fields. What is not found goes last, in the order that it had.
pub(crate) fn sort(text: &str, complaints: &mut [String]) {
    let mut wanted = Wanted::default();
    for (index, complaint) in complaints.iter().enumerate() {
        wanted.add(index, complaint);
    }
    let mut found = Vec::new();
    let walk = Walk {
        wanted: &mut wanted,
        found: &mut found,
    };
    // What cannot be read to its end was refused before.
    let _unreadable = walk.deserialize(&mut serde_json::Deserializer::from_str(text));
    let mut places = vec![usize::MAX; complaints.len()];
    for (place, index) in found.into_iter().enumerate() {
        places[index] = places[index].min(place);
    }
    let mut sorted: Vec<(usize, String)> = places.into_iter().zip(complaints.iter().cloned()).collect();
    sorted.sort_by_key(|(place, _)| *place);
    for (complaint, (_, text)) in complaints.iter_mut().zip(sorted) {
        *complaint = text;
    }
}

impl Wanted {
    fn add(&mut self, index: usize, complaint: &str) {
        let Some((words, path)) = complaint.split_once('"') else {
            return;
        };
        let path = path.trim_end_matches('"').replace('[', ".").replace(']', "");
        let place = path
            .split('.')
            .fold(self, |place, part| place.children.entry(part.to_owned()).or_default());
        place.complaints.push(Complaint {
            index,
            is_duplicate: words.starts_with("duplicate"),
        });
    }

    fn meet(&mut self, found: &mut Vec<usize>) {
        self.met += 1;
        let wanted = self.met > 1;
        let complaints = self.complaints.iter();
        found.extend(
            complaints
                .filter(|complaint| complaint.is_duplicate == wanted)
                .map(|complaint| complaint.index),
        );
    }
}

struct Walk<'a> {
    wanted: &'a mut Wanted,
    found: &'a mut Vec<usize>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let Some(wanted) = self.wanted.children.get_mut(&key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            wanted.meet(self.found);
            map.next_value_seed(Walk {
                wanted,
                found: self.found,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let more = match self.wanted.children.get_mut(&index.to_string()) {
                Some(wanted) => list
                    .next_element_seed(Walk {
                        wanted,
                        found: self.found,
                    })?
                    .is_some(),
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_follow_the_document() {
        let text = r#"{"z":1,"m":{"y":1,"l":[{},{"q":1}],"a":1,"y":2},"d":1,"d":2,"b":0}"#;
        let expected = [
            "unknown field \"z\"",
            "unknown field \"m.l[1].q\"",
            "unknown field \"m.a\"",
            "duplicate field \"m.y\"",
            "duplicate field \"d\"",
            "unknown field \"b\"",
            "unknown field \"not there\"",
        ];
        let mut complaints = expected.map(str::to_owned);
        complaints[..6].sort();
        sort(text, &mut complaints);
        assert_eq!(complaints, expected);
    }
}
