package run_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnEditorsBuffersAreReadAndWritten: what the user has typed and not saved is read, an edit
// goes through the editor, and what they type between the reading and the edit makes it stale.
func TestAnEditorsBuffersAreReadAndWritten(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "saved\n")
	u.file("b.txt", "other\n")
	model := u.script("-- 1 --\ncall read: {\"file_path\":\"a.txt\"}\n" +
		"-- 2 --\nexpect read completed: typed, not saved\ncall edit: {\"file_path\":\"a.txt\",\"old_string\":\"typed\",\"new_string\":\"mended\"}\n" +
		"-- 3 --\nexpect edit completed: .\ncall read: {\"file_path\":\"b.txt\"}\n" +
		"-- 4 --\nexpect read completed: other\ncall edit: {\"file_path\":\"b.txt\",\"old_string\":\"other\",\"new_string\":\"lost\"}\n" +
		"-- 5 --\nexpect edit failed: (?i)changed\ncall write: {\"file_path\":\"made.txt\",\"content\":\"made\\n\"}\n" +
		"-- 6 --\nexpect write completed: .\ntext: Done.\n")
	said, _ := u.editor(`
import { writeFileSync, readFileSync } from "node:fs";
const open = new Map([[folder + "/a.txt", "typed, not saved\n"]]);
let reads = 0;
const e = connect({
  permit: () => "once",
  read: ({ path }) => {
    if (path.endsWith("b.txt") && ++reads > 1) return { content: "typed meanwhile\n" };
    return { content: open.get(path) ?? readFileSync(path, "utf8") };
  },
  write: ({ path, content }) => { open.delete(path); writeFileSync(path, content); say("wrote " + path.split("/").at(-1), content); return {}; },
});
await e.init({ fs: { readTextFile: true, writeTextFile: true } });
const s = await e.open();
say("end", await e.prompt(s.sessionId, "go"));
say("live", story(e.updates, s.sessionId));
await e.leave();
`, "--permission-mode", "edits", model)
	wants(t, said, "end", `"stopReason":"end_turn"`)
	wants(t, said, "live", `"oldText":"typed, not saved\n"`, `"newText":"mended, not saved\n"`)
	for name, want := range map[string]string{"a.txt": "mended, not saved\n", "b.txt": "other\n", "made.txt": "made\n"} {
		raw, err := os.ReadFile(filepath.Join(u.dir, name))
		if err != nil || string(raw) != want {
			t.Errorf("%s: %q, want %q (%v)", name, raw, want, err)
		}
		if said["wrote "+name] != nil && said["wrote "+name] != want || said["wrote "+name] == nil && name != "b.txt" {
			t.Errorf("%s: the editor got %v", name, said["wrote "+name])
		}
	}
}
