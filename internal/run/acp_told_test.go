package run_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/nodetest"
)

func loading(method string, id int, session, cwd string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/%s","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, id, method, session, cwd)
}

// TestASessionThatIsOpenElsewhereSaysSo, and a copy of it is its own; its mode is as it was chosen,
// and how its turns ended is told when it is loaded.
func TestASessionThatIsOpenElsewhereSaysSo(t *testing.T) {
	u := newUser(t)
	first := u.wire(u.script("-- 1 --\ntext: first answer\n")) // what is asked behind it fails
	id := first.opens(1, u.dir)
	first.says(prompting(2, id, "hello"))
	first.until(`"id":2,"result"`)
	first.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":%q,"modeId":"edits"}}`, id))
	first.until(`"id":3,"result"`)
	first.says(prompting(4, id, "more"))
	first.until(`"id":4,"error"`, "has no step 2")

	second := u.wire()
	second.says(loading("load", 1, id, u.dir))
	second.until(`"id":1,"error"`, "open in another process", "session/fork")
	second.says(loading("fork", 2, id, u.dir))
	fork := second.until(`"id":2,"result"`, `"currentModeId":"edits"`)["result"].(map[string]any)["sessionId"].(string)
	if fork == id {
		t.Error("the copy has the same id")
	}
	first.in.Close()
	first.wait()
	second.says(loading("load", 3, id, u.dir))
	second.until("user_message_chunk", "hello")
	second.hears("first answer")
	second.until("user_message_chunk", "more")
	second.until(`"notice":true`, "this turn ended", "has no step 2")
	second.until(`"id":3,"result"`, `"currentModeId":"edits"`)
	second.says(loading("fork", 4, "nobody", u.dir))
	second.until(`"id":4,"error"`, "nobody")
	second.in.Close()
	if code := second.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// formingServer sends a call in pieces; each waits until it may be sent. The first answer breaks
// off in the middle of a call.
func formingServer(u *user, next <-chan struct{}) {
	requests := 0
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		requests++
		send := func(delta, finish string) {
			end := "null"
			if finish != "" {
				end = fmt.Sprintf("%q", finish)
			}
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, end)
			w.(http.Flusher).Flush()
		}
		piece := func(id, name, args string) {
			raw, _ := json.Marshal(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": args}}}})
			send(string(raw), "")
		}
		wait := func() {
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
		switch requests {
		case 1:
			piece("c-broken", "bash", `{"command":"echo bro`)
			wait()
			panic(http.ErrAbortHandler)
		case 2:
			piece("c-whole", "bash", `{"command":"echo one `)
			wait()
			piece("", "", `two","description":"what. `)
			wait()
			piece("", "", `it says"}`)
			send("{}", "tool_calls")
		case 3:
			send(`{"content":"Done."}`, "stop")
		default:
			piece("c-last", "bash", `{"command":"echo la`)
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
}

// TestAnEditorIsToldOfCallsWhileTheyForm: by their names; one that broke off fails, and the one that comes in its place is another.
func TestAnEditorIsToldOfCallsWhileTheyForm(t *testing.T) {
	u := newUser(t)
	next := make(chan struct{})
	formingServer(u, next)
	u.configure(`{"models": {"openai/m": {"context": 50000}}}`)
	w := u.wire("--model=openai/m", "--permission-mode=yolo", "--sandbox=off")
	id := w.opens(1, u.dir)
	w.says(prompting(2, id, "go"))
	w.until(`"usage_update"`, `"size":50000`)
	w.until(`"sessionUpdate":"tool_call"`, `"toolCallId":"c-broken"`, `"status":"pending"`)
	next <- struct{}{}
	w.until(`"toolCallId":"c-broken"`, `"status":"failed"`, "nothing ran")
	w.until(`"sessionUpdate":"tool_call"`, `"toolCallId":"c-whole"`, `"status":"pending"`)
	next <- struct{}{}
	next <- struct{}{}
	w.until(`"toolCallId":"c-whole"`, `"status":"in_progress"`)
	end := w.until(`"toolCallId":"c-whole"`, `"status":"completed"`)
	if raw, _ := json.Marshal(end); strings.Count(string(raw), "one two") != 2 {
		t.Errorf("the outcome tells its command line and its output not once each: %s", raw)
	}
	w.hears("Done.")
	w.until(`"id":2,"result"`, "end_turn")
	w.says(prompting(3, id, "again"))
	w.until(`"toolCallId":"c-last"`, `"status":"pending"`)
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id))
	w.until(`"toolCallId":"c-last"`, `"status":"failed"`, "nothing ran")
	w.until(`"id":3,"result"`, "cancelled")
	w.in.Close()
	w.wait()
}

// TestAnOutputIsToldOnce also where a command failed, and a picture that the model got is shown.
func TestAnOutputIsToldOnce(t *testing.T) {
	u := newUser(t)
	u.file("p.png", string(pngOf(t, 20, 10)))
	w := u.wire("--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ncall bash: {\"command\":\"printf 'mar%s' ked; exit 3\"}\n-- 2 --\ncall read: {\"file_path\":\"p.png\"}\n-- 3 --\ntext: Done.\n"))
	w.says(prompting(2, w.opens(1, u.dir), "go"))
	end := w.until(`"status":"failed"`)
	if raw, _ := json.Marshal(end); strings.Count(string(raw), "marked") != 1 {
		t.Errorf("%s", raw)
	}
	w.until(`"status":"completed"`, `"type":"image"`, `"mimeType":"image/png"`)
	w.until(`"id":2,"result"`)
	w.in.Close()
	w.wait()
}

// TestBlocksThatAreNotKnownAreRefused by what they are, and links stand apart from the words.
func TestBlocksThatAreNotKnownAreRefused(t *testing.T) {
	u := newUser(t)
	w := u.wire(u.script("-- 1 --\nexpect prompt: ^look at /a/b\\.txt:10-20, and \\(/c\\.txt:7\\) too /d.txt$\ntext: I see.\n"))
	id := w.opens(1, u.dir)
	for n, c := range [][2]string{
		{`[{"type":"text","text":"a"},{"type":"video","text":"b"}]`, `block 2 of the prompt is of the type \"video\", which is not known here`},
		{`[{"text":"a"}]`, "block 1 of the prompt has no type"},
		{`[{"type":"text","text":5}]`, `block 1 of the prompt cannot be read: \"text\" has to be a string, and is a number`},
		{`[5]`, `block 1 of the prompt cannot be read: it has to be an object, and is a number`},
		{`"a"`, `\"prompt\" has to be a list, and is a string`},
	} {
		w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":%s}}`, 10+n, id, c[0]))
		w.until(fmt.Sprintf(`"id":%d,"error":{"code":-32602`, 10+n), c[1])
	}
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"look at"},{"type":"resource_link","uri":"file:///a/b.txt#L10:20","name":"b"},`+
		`{"type":"text","text":", and ("},{"type":"resource_link","uri":"file:///c.txt#L7","name":"c"},{"type":"text","text":") too"},{"type":"resource_link","uri":"file:///d.txt#intro","name":"d"}]}}`, id))
	w.hears("I see.")
	w.in.Close()
	w.wait()
}

// TestAnEditorHasCommandsOfAdze: they are listed, and run without the model.
func TestAnEditorHasCommandsOfAdze(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "one\n")
	long := strings.Repeat("many words of a long conversation. ", 400)
	w := u.wire("--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ntext: "+long+"\ncall write: {\"file_path\":\"b.txt\",\"content\":\"b\\n\"}\n-- 2 --\ntext: "+long+"\n-- 3 --\ntext: It was about words.\n"))
	id := w.opens(1, u.dir)
	w.until("available_commands_update", `"name":"compact"`, `"name":"context"`, `"name":"undo"`)
	w.says(prompting(2, id, "write b"))
	w.until(`"id":2,"result"`)
	w.says(prompting(3, id, "/context"))
	w.hears("- messages: ")
	w.until(`"id":3,"result"`, "end_turn")
	w.says(prompting(4, id, "/undo"))
	asked := w.until("session/request_permission", "b.txt", `"kind":"allow_once","name":"restore them"`, `"kind":"reject_once","name":"change nothing"`)
	question, _ := json.Marshal(asked["id"])
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"choice:0"}}}`, question))
	w.hears("Restored:")
	w.until(`"id":4,"result"`, "end_turn")
	if _, err := os.Stat(filepath.Join(u.dir, "b.txt")); err == nil {
		t.Error("b.txt is there still")
	}
	w.says(prompting(5, id, "/compact the words"))
	w.until(`"notice":true`, "summed up")
	w.until(`"id":5,"result"`, "end_turn")
	w.in.Close()
	w.wait()
}

// TestOptionsSayWhatTheyDo: of each kind, the ones that allow first and one that refuses last; what
// is no permission can be left unanswered.
func TestOptionsSayWhatTheyDo(t *testing.T) {
	u := newUser(t)
	w := u.wire(u.script("-- 1 --\ncall bash: {\"command\":\"touch x\"}\n-- 2 --\nexpect bash denied: .\ncall ask: {\"question\":\"Which?\",\"choices\":[\"A\",\"B\"]}\n-- 3 --\nexpect ask: .\ntext: Done.\n"))
	id := w.opens(1, u.dir)
	w.says(prompting(2, id, "go"))
	for _, want := range []string{"allow_once allow_always reject_once", "allow_once allow_once reject_once"} {
		asked := w.until("session/request_permission")
		var kinds []string
		refuse := ""
		for _, o := range asked["params"].(map[string]any)["options"].([]any) {
			kind := o.(map[string]any)["kind"].(string)
			if kind == "reject_once" {
				refuse = o.(map[string]any)["optionId"].(string)
			}
			kinds = append(kinds, kind)
		}
		got := strings.Join(kinds, " ")
		if strings.Contains(want, "always") {
			got = strings.Join(slices.Compact(kinds), " ")
		}
		if got != want {
			t.Errorf("options %s, want %s", got, want)
		}
		question, _ := json.Marshal(asked["id"])
		w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, question, refuse))
	}
	w.hears("Done.")
	w.in.Close()
	w.wait()
}

// TestSearchesFindWhatIsNotSaved: text that only the editor has is found, in a file that is named
// and in a folder, and what it has no more is not.
func TestSearchesFindWhatIsNotSaved(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "saved needle\n")
	u.file("src/b.txt", "nothing yet\n")
	u.file("c.txt", "a needle on the disk\n")
	said, _ := u.editor(`
import { readFileSync } from "node:fs";
const open = new Map([[folder + "/a.txt", "typed over\n"], [folder + "/src/b.txt", "one\na needle that is not saved\n"]]);
const e = connect({ read: ({ path }) => ({ content: open.get(path) ?? readFileSync(path, "utf8") }) });
await e.init({ fs: { readTextFile: true, writeTextFile: false } });
const s = await e.open();
say("end", await e.prompt(s.sessionId, "go"));
say("live", story(e.updates, s.sessionId));
await e.leave();
`, u.script("-- 1 --\ncall grep: {\"pattern\":\"needle\"}\n-- 2 --\nexpect grep completed: (?s)c\\.txt\\n1: a needle on the disk.*src/b\\.txt\\n2: a needle that is not saved.*2 matches in 2 files.*2 files as in the editor, not saved yet\n"+
		"call grep: {\"pattern\":\"needle\",\"path\":\"a.txt\"}\n-- 3 --\nexpect grep completed: no match\ncall grep: {\"pattern\":\"saved\",\"path\":\"src\"}\n-- 4 --\nexpect grep completed: 2: a needle that is not saved\ntext: Found.\n"))
	wants(t, said, "end", `"stopReason":"end_turn"`)
	wants(t, said, "live", "Found.")
}

// TestOlderEditorsUnderstandAdze: clients of the protocol's own packages of other versions read all
// that is told, of each kind of update.
func TestOlderEditorsUnderstandAdze(t *testing.T) {
	for _, pkg := range []string{"acp0", "acp1"} {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			nodetest.Modules(t, pkg)
			u := newUser(t)
			u.env = append(u.env, "ADZE_ACP="+pkg)
			u.configure(fmt.Sprintf(`{"models": {%q: {"context": 50000}}}`, "script/"+filepath.Join(u.home, "script.txtar")))
			said, kinds := u.editor(`
const e = connect({ permit: (p) => p.options.find((o) => o.kind === "allow_once").optionId });
await e.init();
const s = await e.open();
say("end", await e.prompt(s.sessionId, "go"));
const copy = await e.request("session/fork", { sessionId: s.sessionId, cwd: folder, mcpServers: [] }).catch((err) => ({ sessionId: String(err) }));
say("copied", copy.sessionId !== s.sessionId);
await e.request("session/close", { sessionId: s.sessionId });
e.updates.length = 0;
await e.request("session/load", { sessionId: s.sessionId, cwd: folder, mcpServers: [] });
say("again", story(e.updates, s.sessionId));
await e.leave();
`, u.script("-- 1 --\nreasoning: Hm.\ntext: I write.\ncall write: {\"file_path\":\"a.txt\",\"content\":\"a\\n\"}\n-- 2 --\ncall bash: {\"command\":\"echo one; exit 2\"}\n-- 3 --\ntext: Done.\n"))
			wants(t, said, "end", `"stopReason":"end_turn"`)
			wants(t, said, "again", "Done.", `"kind":"edit"`)
			if said["copied"] != true {
				t.Error("no copy")
			}
			for _, kind := range []string{"usage_update", "tool_call", "tool_call_update", "agent_message_chunk"} {
				if !slices.Contains(kinds, kind) {
					t.Errorf("no %s was told", kind)
				}
			}
		})
	}
}
