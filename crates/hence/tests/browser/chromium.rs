//! A real Chromium. It is spoken to through a pipe, in its own protocol: JSON with a zero byte behind.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser with one page, and what happened in it.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What is the browser's own, and goes with it.
    pub folder: PathBuf,
    session: Option<String>,
    calls: u64,
    /// What the browser told without being asked, since the page was opened.
    pub events: Vec<Value>,
}

/// Whether the scripts of pages are run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Script {
    On,
    Off,
}

impl Browser {
    /// Starts a browser for a test of this name.
    pub fn start(name: &str) -> Self {
        let name = format!("browser-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("the target directory can be written");
        // The browser reads what it is told from the descriptor 3, and answers to 4. One that hangs is ended.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "exec timeout 300 \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null",
            "sh",
        ]);
        command.args([
            "chromium",
            "--headless",
            "--remote-debugging-pipe",
            "--no-first-run",
        ]);
        command.args([
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
        ]);
        command.arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ));
        if is_root() {
            command.arg("--no-sandbox");
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell can be run");
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut browser = Self {
            process,
            input,
            output,
            folder,
            session: None,
            calls: 0,
            events: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = text(&target["targetId"]).to_owned();
        let attached = json!({ "targetId": target, "flatten": true });
        let attached = browser.call("Target.attachToTarget", attached);
        let downloads = json!({ "behavior": "allow", "downloadPath": browser.folder.canonicalize().expect("it is there") });
        browser.call("Browser.setDownloadBehavior", downloads);
        let permissions =
            json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        browser.call("Browser.grantPermissions", permissions);
        browser.session = Some(text(&attached["sessionId"]).to_owned());
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.width(1280);
        browser.scheme("light");
        browser
    }

    /// Opens an address, with the page's script or without.
    pub fn go(&mut self, url: &str, script: Script) {
        let disabled = script == Script::Off;
        self.call(
            "Emulation.setScriptExecutionDisabled",
            json!({ "value": disabled }),
        );
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        self.wait_until_loaded();
        self.call("Page.bringToFront", json!({}));
    }

    /// Waits until a page is there that was asked for since the last one was.
    pub fn wait_until_loaded(&mut self) {
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(is_loaded) {
            let event = self.read();
            self.events.push(event);
        }
    }

    /// Fails if the page complained, or asked for anything but what begins so; and says how often it asked.
    pub fn assert_quiet(&mut self, own: &[&str]) -> usize {
        let mut requests = 0;
        for event in &self.events {
            let is_trouble = match text(&event["method"]) {
                "Runtime.exceptionThrown" | "Log.entryAdded" => true,
                "Runtime.consoleAPICalled" => true,
                // Whoever leaves a page ends what it listened to.
                "Network.loadingFailed" => event["params"]["canceled"] != true,
                "Network.requestWillBeSent" => {
                    let url = text(&event["params"]["request"]["url"]);
                    requests += usize::from(url.starts_with(own[0]));
                    !own.iter().any(|own| url.starts_with(own))
                }
                _ => false,
            };
            assert!(!is_trouble, "{event}");
        }
        requests
    }

    /// Fails if there is text that can hardly be read, in the light or in the dark.
    pub fn assert_letters_stand_out(&mut self) {
        for scheme in ["light", "dark"] {
            self.scheme(scheme);
            let contrasts = self.evaluate(CONTRASTS);
            let contrasts = contrasts.as_array().expect("a list");
            assert!(contrasts.len() >= 3);
            let worst = &contrasts[0];
            assert!(
                worst[0].as_f64().expect("a number") >= 4.5,
                "{scheme}: {worst}"
            );
        }
        self.scheme("light");
    }

    /// Fails if a telephone would have to be moved to and fro.
    pub fn assert_fits_a_telephone(&mut self) {
        self.width(360);
        let wide = self.evaluate("document.documentElement.scrollWidth");
        assert!(wide.as_u64().expect("a number") <= 360, "{wide}");
        self.width(1280);
    }

    pub fn width(&mut self, width: u32) {
        let metrics =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub fn scheme(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// What an expression of the page's language is.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let question =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", question);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    pub fn wait_for(&mut self, condition: &str) {
        let begun = Instant::now();
        while self.evaluate(condition) != true {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{condition} does not come"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks into the middle of an element, as a hand does.
    pub fn click(&mut self, element: &str) {
        let middle = self.evaluate(&format!(
            "(() => {{
               const element = {element};
               element.scrollIntoView({{ block: 'center', inline: 'center' }});
               const box = element.getClientRects()[0];
               return [box.left + box.width / 2, box.top + box.height / 2];
             }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            _ => 40,
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Asks the browser for something, and waits for the answer.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = self
            .input
            .write_all(&bytes)
            .and_then(|()| self.input.flush());
        sent.expect("Chromium listens; if it is not installed: apt-get install chromium");
        loop {
            let mut message = self.read();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            if message["method"].is_string() {
                self.events.push(message);
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output
            .read_until(0, &mut bytes)
            .expect("Chromium answers");
        assert_eq!(
            bytes.pop(),
            Some(0),
            "Chromium ended; if it is not installed: apt-get install chromium"
        );
        serde_json::from_slice(&bytes).expect("Chromium speaks JSON")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What is left behind by a browser that does not listen any more does no harm.
        let _ = self
            .input
            .write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What must be text.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is text"))
}

/// Every text that is seen, its colour and that of the ground it stands on, as contrast; the worst first.
const CONTRASTS: &str = "(() => {
    const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
      const [r, g, b] = parse(colour).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      const node = element.closest('.node, .box');
      if (node) return getComputedStyle(node.querySelector('rect')).fill;
      for (let next = element; next; next = next.parentElement) {
        const colour = getComputedStyle(next).backgroundColor;
        const parts = parse(colour);
        if (parts.length === 3 || parts[3] > 0) return colour;
      }
      return 'rgb(255, 255, 255)';
    };
    const found = new Map();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      if (!walk.currentNode.textContent.trim() || element.getClientRects().length === 0) continue;
      if (['SCRIPT', 'STYLE', 'style', 'title'].includes(element.nodeName)) continue;
      const style = getComputedStyle(element);
      const ink = element.closest('svg') ? style.fill : style.color;
      const under = element.classList.contains('more') ? getComputedStyle(document.querySelector('.ground')).fill : ground(element);
      const [one, other] = [light(ink), light(under)].sort((a, b) => b - a);
      found.set(ink + ' on ' + under, [(one + 0.05) / (other + 0.05), element.nodeName + '.' + element.getAttribute('class')]);
    }
    return [...found].map(([pair, [contrast, where]]) => [contrast, pair, where]).sort((a, b) => a[0] - b[0]);
  })()";

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
