//! `$Base ~> { … }`: what is later beats what is earlier, however deep inside.

use hence_cf2::{Options, World, compile_file};
use hence_model::print::json::Json;
use hence_model::source::{Files, ReadError};

struct OneFile(&'static str);

impl Files for OneFile {
    fn read(&self, _: &str, text: &mut String) -> Result<(), ReadError> {
        text.push_str(self.0);
        Ok(())
    }
}

impl World for OneFile {}

fn compiled(text: &'static str) -> String {
    let file = OneFile(text);
    let compiled = compile_file(&file, "main.cf2", &Options::default());
    let mut json = Json::compact(Vec::new());
    compiled.send(&mut json);
    String::from_utf8(json.finish().expect("a vector takes everything")).expect("JSON is text")
}

#[test]
fn a_later_mutation_beats_an_earlier_one_in_nested_blocks() {
    let text = "
        private Base => { net => { mtu => 1500, ip => { v4 => 1, v6 => 2 } }, rack => 0 }
        private Web => $Base ~> { net ~> { mtu => 4000 } }
        m => $Web ~> { net ~> { mtu => 9000, ip ~> { v6 => 3 } }, net ~> { dhcp => true } }
        ";
    let expected =
        "{\"m\":{\"net\":{\"mtu\":9000,\"ip\":{\"v4\":1,\"v6\":3},\"dhcp\":true},\"rack\":0}}\n";
    assert_eq!(compiled(text), expected);
}

#[test]
fn mutations_that_are_equally_late_must_agree() {
    let text = "m => { net => { mtu => 1 } } ~> { net ~> { mtu => 2 }, net ~> { mtu => 3 } }";
    assert_eq!(compiled(text), "\n");
}
