//! The object `fleet` of a script: its functions in the language of scripts.

use std::sync::{Arc, Mutex, MutexGuard};

use hence_fleet::edit::{Edit, Item, Property, Relation, Thing};
use hence_fleet::{Config, Kind, Resolved};
use hence_functions::interpreter::{Answer, literal, paid, spend, text};
use hence_ledger::{Keys, Value};
use hence_model::diagnostic::Diagnostic;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FuncRegistration, Map, NativeCallContext};
use rhai::{Position, RhaiNativeFunc, Variant};

use super::session::{Place, SCRIPT, Session, Trouble};
use crate::command::fleet::entity::{any_kind, relation, thing};

/// What a look at the fleet costs, in steps.
const LOOK: usize = 100;

/// The fleet, as scripts hold it.
#[derive(Clone)]
pub struct Fleet(Arc<Mutex<Session>>);

impl Fleet {
    /// The fleet of a session.
    pub fn new(session: Session) -> Self {
        Self(Arc::new(Mutex::new(session)))
    }

    /// The session.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        self.0.lock().expect("no function of the console panics")
    }

    fn look<T: Into<Dynamic>>(
        &self,
        look: impl FnOnce(&mut Session) -> Result<T, Trouble>,
    ) -> Answer<Dynamic> {
        spend(LOOK)?;
        let value = look(&mut self.session()).map_err(thrown)?;
        paid(value.into())
    }

    /// Looks at every node.
    fn survey<T: Into<Dynamic>>(
        &self,
        look: impl FnOnce(&mut Session) -> Result<T, Trouble>,
    ) -> Answer<Dynamic> {
        let nodes = self.session().pool().node_count();
        spend(nodes)?;
        self.look(look)
    }

    fn edit(&self, context: &NativeCallContext, edits: &[Edit]) -> Answer<()> {
        spend(LOOK * edits.len())?;
        let mut session = self.session();
        session.edit(edits, place(context)).map_err(thrown)
    }
}

/// A trouble as scripts throw and catch it.
#[derive(Clone)]
pub struct Thrown(pub Trouble);

impl Thrown {
    fn first<T: Default>(&self, of: impl FnOnce(&Diagnostic) -> T) -> T {
        self.0.reasons.first().map(of).unwrap_or_default()
    }
}

fn thrown(trouble: impl Into<Trouble>) -> Box<EvalAltResult> {
    let thrown = Dynamic::from(Thrown(trouble.into()));
    EvalAltResult::ErrorRuntime(thrown, Position::NONE).into()
}

fn wrong<T>(message: impl Into<String>) -> Answer<T> {
    Err(thrown(Diagnostic::error(SCRIPT, message)))
}

fn place(context: &NativeCallContext) -> Place {
    let position = context.call_position();
    let line = position.line().unwrap_or(1);
    (line as u32, position.position().unwrap_or(1).max(1) as u32)
}

/// Adds the functions of the console to the language.
pub fn register(engine: &mut Engine, fleet: &Fleet) {
    engine
        .register_type_with_name::<Fleet>("fleet")
        .register_type_with_name::<Thrown>("trouble")
        .register_get("message", |thrown: &mut Thrown| {
            thrown.first(|reason| reason.message.clone())
        })
        .register_get("code", |thrown: &mut Thrown| {
            thrown.first(|reason| reason.code.name.to_owned())
        });
    let out = fleet.clone();
    engine.register_fn("print", move |value: Dynamic| -> Answer<()> {
        let line = match value.read_lock::<Thrown>() {
            Some(thrown) => thrown.first(|reason| reason.message.clone()),
            None => text(&value)?,
        };
        out.session().print(line).map_err(thrown)
    });
    let out = fleet.clone();
    engine.register_fn("debug", move |value: Dynamic| -> Answer<()> {
        let line = literal(&value)?;
        out.session().print(line).map_err(thrown)
    });
    reading(engine);
    changing(engine);
    editing(engine);
}

/// Adds a function that can be called on a constant.
fn add<A: 'static, const N: usize, const X: bool, R: Variant + Clone, const F: bool>(
    engine: &mut Engine,
    name: &str,
    function: impl RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
) {
    let registration = FuncRegistration::new(name).with_purity(true);
    registration.register_into_engine(engine, function);
}

fn reading(engine: &mut Engine) {
    for (name, kind) in [
        ("nodes", Kind::Node),
        ("groups", Kind::Group),
        ("features", Kind::Feature),
        ("params", Kind::Param),
        ("subsystems", Kind::Subsystem),
    ] {
        add(engine, name, move |fleet: &mut Fleet| {
            fleet.look(|session| Ok(list(session.pool().names(kind))))
        });
    }
    add(engine, "members", |fleet: &mut Fleet, group: &str| {
        fleet.survey(|session| {
            session.there(Kind::Group, group)?;
            Ok(list(session.pool().members(group)))
        })
    });
    add(engine, "memberships", |fleet: &mut Fleet, node: &str| {
        fleet.look(|session| {
            session.there(Kind::Node, node)?;
            Ok(list(session.pool().memberships(node).unwrap_or_default()))
        })
    });
    add(engine, "config", |fleet: &mut Fleet, node: &str| {
        fleet.look(|session| session.config(node).map(config))
    });
    add(engine, "head", |fleet: &mut Fleet, node: &str| {
        fleet.look(|session| session.head(node).map(config))
    });
    add(
        engine,
        "explain",
        |fleet: &mut Fleet, node: &str, parameter: &str| {
            fleet.look(|session| session.explain(node, parameter))
        },
    );
    add(engine, "validate", |fleet: &mut Fleet| {
        fleet.survey(|session| {
            let failures = session.validate().into_iter().map(|failure| {
                map([
                    ("node", failure.node.as_str().into()),
                    ("code", failure.code.name.into()),
                    ("names", list(failure.names.iter()).into()),
                    ("message", failure.message().into()),
                ])
            });
            Ok(failures.collect::<Array>())
        })
    });
    add(engine, "version", |fleet: &mut Fleet| {
        fleet.look(|session| Ok(session.version() as i64))
    });
    add(engine, "version_of", |fleet: &mut Fleet, node: &str| {
        fleet.look(|session| Ok(session.version_of(node)? as i64))
    });
    add(engine, "inventory", |fleet: &mut Fleet, condition: &str| {
        fleet.survey(|session| {
            let nodes = session.inventory(condition)?.into_iter();
            Ok(nodes.map(|node| node.name.into()).collect::<Array>())
        })
    });
    add(engine, "plan", |fleet: &mut Fleet| {
        fleet.survey(|session| {
            let plan = session.plan()?.plan;
            let changed = plan.nodes.iter().map(|(node, difference)| {
                let parameters = difference.parameters.iter().map(|changed| {
                    map([
                        ("name", changed.name.as_str().into()),
                        ("before", resolved(&changed.before)),
                        ("after", resolved(&changed.after)),
                    ])
                });
                map([
                    ("node", node.as_str().into()),
                    ("gone", false.into()),
                    ("parameters", parameters.collect::<Array>().into()),
                    ("restart", list(&difference.restart).into()),
                    ("reread", list(&difference.reread).into()),
                ])
            });
            let gone = plan.gone.iter();
            let gone =
                gone.map(|node| map([("node", node.as_str().into()), ("gone", true.into())]));
            Ok(changed.chain(gone).collect::<Array>())
        })
    });
}

fn changing(engine: &mut Engine) {
    use NativeCallContext as Context;
    add(
        engine,
        "assert",
        |context: Context, fleet: &mut Fleet, key: &str| {
            fleet.look(|session| session.assert(key, Value::Nothing, place(&context)))
        },
    );
    add(
        engine,
        "assert",
        |context: Context, fleet: &mut Fleet, key: &str, value: Dynamic| {
            let value = scalar(&value)?.map_or(Value::Nothing, Value::text);
            fleet.look(|session| session.assert(key, value, place(&context)))
        },
    );
    for (name, keys) in [
        ("retract", Keys::Only as fn(_) -> Keys),
        ("retract_under", Keys::Under),
    ] {
        add(
            engine,
            name,
            move |context: Context, fleet: &mut Fleet, key: &str| {
                fleet.look(|session| session.retract(key, keys, place(&context)))
            },
        );
    }
    add(engine, "commit", |fleet: &mut Fleet| commit(fleet, None));
    add(engine, "commit", |fleet: &mut Fleet, message: &str| {
        commit(fleet, Some(message))
    });
    add(engine, "activate", |fleet: &mut Fleet| {
        fleet.survey(Session::activate)
    });
    add(engine, "undo", |fleet: &mut Fleet| {
        fleet.look(Session::undo)
    });
    add(engine, "snapshot", |fleet: &mut Fleet, name: &str| {
        fleet.look(|session| session.snapshot(name))
    });
}

fn commit(fleet: &Fleet, message: Option<&str>) -> Answer<Dynamic> {
    // Whoever commits in the middle looks there.
    fleet.look(|session| session.commit(message).map_err(|(trouble, _)| trouble))
}

/// The edits: a verb, a kind and a name; then what it is related to.
fn editing(engine: &mut Engine) {
    use NativeCallContext as Context;
    for (verb, edit) in [
        (
            "add",
            (|one| Edit::Create(one, Vec::new())) as fn(Thing) -> Edit,
        ),
        ("remove", Edit::Remove),
    ] {
        add(
            engine,
            verb,
            move |context: Context, fleet: &mut Fleet, kind: &str, names: Dynamic| {
                let kind = any_kind(kind).map_err(thrown)?;
                let names = items(&names)?.into_iter();
                let edits = names.map(|item| edit(thing(kind, &item.name)));
                fleet.edit(&context, &edits.collect::<Vec<_>>())
            },
        );
    }
    add(
        engine,
        "add",
        |context: Context, fleet: &mut Fleet, kind: &str, name: &str, said: Map| {
            let thing = about(kind, name)?;
            let properties = properties(&thing, &said)?;
            fleet.edit(&context, &[Edit::Create(thing, properties)])
        },
    );
    add(
        engine,
        "set",
        |context: Context, fleet: &mut Fleet, kind: &str, name: &str, said: Map| {
            let thing = about(kind, name)?;
            // Whatever is no property is a parameter.
            let is_property = |name: &str| thing.kind.properties().contains(&name);
            let (about, params): (Map, Map) = said
                .into_iter()
                .partition(|(name, _)| thing.kind == Kind::Param || is_property(name));
            let mut edits = vec![Edit::Set(thing.clone(), properties(&thing, &about)?)];
            if !params.is_empty() {
                let params = items(&params.into())?;
                edits.push(Edit::Add(thing, Relation::Param, params, None));
            }
            fleet.edit(&context, &edits)
        },
    );
    type Relate = fn(Thing, Relation, Vec<Item>) -> Edit;
    let relates: [(&str, Relate); 3] = [
        ("add", |thing, relation, items| {
            Edit::Add(thing, relation, items, None)
        }),
        ("remove", |thing, relation, items| {
            let names = items.into_iter().map(|item| item.name);
            Edit::Drop(thing, relation, names.collect())
        }),
        ("replace", Edit::Replace),
    ];
    for (verb, edit) in relates {
        add(
            engine,
            verb,
            move |context: Context,
                  fleet: &mut Fleet,
                  kind: &str,
                  name: &str,
                  word: &str,
                  others: Dynamic| {
                let thing = about(kind, name)?;
                let relation = relation(thing.kind, word).map_err(thrown)?;
                fleet.edit(&context, &[edit(thing, relation, items(&others)?)])
            },
        );
    }
    add(
        engine,
        "rename",
        |context: Context, fleet: &mut Fleet, kind: &str, old: &str, new: &str| {
            let rename = Edit::Rename(about(kind, old)?, new.to_owned());
            fleet.edit(&context, &[rename])
        },
    );
}

fn about(kind: &str, name: &str) -> Answer<Thing> {
    Ok(thing(any_kind(kind).map_err(thrown)?, name))
}

/// A name, a list of names, or a map of names and values.
fn items(others: &Dynamic) -> Answer<Vec<Item>> {
    let named = |name: &Dynamic| match name.as_immutable_string_ref() {
        Ok(name) => Ok(Item {
            name: name.to_string(),
            value: None,
        }),
        Err(_) => wrong(format!("expected a name, and it is {}", literal(name)?)),
    };
    if let Ok(list) = others.as_array_ref() {
        return list.iter().map(named).collect();
    }
    if let Ok(map) = others.as_map_ref() {
        let valued = map.iter().map(|(name, value)| {
            Ok(Item {
                name: name.to_string(),
                value: scalar(value)?,
            })
        });
        return valued.collect();
    }
    Ok(vec![named(others)?])
}

fn properties(thing: &Thing, said: &Map) -> Answer<Vec<Property>> {
    let known = thing.kind.properties();
    let said = said.iter().map(|(name, value)| {
        let Some(property) = known.iter().find(|known| *known == name) else {
            let kind = thing.kind.word();
            return wrong(format!(
                "a {kind} has no `{name}`: it has {}",
                known.join(", ")
            ));
        };
        let value = scalar(value)?.filter(|value| !value.is_empty());
        Ok((*property, value))
    });
    said.collect()
}

/// The text of a value that is neither a list nor a map; nothing for `()`.
fn scalar(value: &Dynamic) -> Answer<Option<String>> {
    match value.is_unit() {
        true => Ok(None),
        false if value.is_string() || value.is_int() || value.is_float() || value.is_bool() => {
            text(value).map(Some)
        }
        false => wrong(format!(
            "expected a text or a number, and it is {}",
            literal(value)?
        )),
    }
}

fn list<T: ToString>(names: impl IntoIterator<Item = T>) -> Array {
    names
        .into_iter()
        .map(|name| name.to_string().into())
        .collect()
}

fn map<const N: usize>(entries: [(&str, Dynamic); N]) -> Dynamic {
    let entries = entries.into_iter();
    let entries = entries.map(|(name, value)| (name.into(), value));
    Dynamic::from_map(entries.collect())
}

fn config(config: Config) -> Map {
    let entries = config.iter();
    let entries = entries.map(|(name, value)| (name.as_str().into(), value.to_string().into()));
    entries.collect()
}

fn resolved(value: &Option<Resolved>) -> Dynamic {
    let value = value.as_ref();
    value.map_or(Dynamic::UNIT, |value| value.to_string().into())
}
