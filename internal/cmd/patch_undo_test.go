package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A patch that adds, updates, deletes and moves files is one turn: undo restores each of them, and
// redo makes it again.
func TestAPatchIsUndoneAndRedone(t *testing.T) {
	jsonOf := func(v any) string { raw, _ := json.Marshal(v); return string(raw) }
	const patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Update File: kept.txt\n@@\n one\n-two\n+2\n" +
		"*** Delete File: gone.txt\n*** Update File: from.txt\n*** Move to: sub/to.txt\n@@\n-old\n+moved\n*** End Patch"
	before := map[string]string{"kept.txt": "one\ntwo\n", "gone.txt": "gone\n", "from.txt": "old\n"}
	after := map[string]string{"new.txt": "new\n", "kept.txt": "one\n2\n", "sub/to.txt": "moved\n"}
	call := "apply_patch: " + jsonOf(map[string]any{"input": patch})
	u := newUser(t)
	for file, text := range before {
		u.file(file, text)
	}
	look := func(when string, want map[string]string) {
		t.Helper()
		for _, file := range []string{"new.txt", "kept.txt", "gone.txt", "from.txt", "sub/to.txt"} {
			raw, err := os.ReadFile(filepath.Join(u.dir, file))
			text, there := want[file]
			if (err == nil) != there || string(raw) != text {
				t.Errorf("%s: %s is %q, %v; want %q, there: %v", when, file, raw, err, text, there)
			}
		}
	}
	model := u.script("-- 1 --\ncall read: {\"path\":\"kept.txt\"}\ncall read: {\"path\":\"gone.txt\"}\ncall read: {\"path\":\"from.txt\"}\n" +
		"-- 2 --\ncall " + call + "\n-- 3 --\nexpect apply_patch completed: .\ntext: done\n")
	u.run("-p", model, "--permission-mode", "yolo", "go").wants(0)
	look("patched", after)
	u.run("undo").wants(0)
	look("undone", before)
	u.run("redo").wants(0)
	look("redone", after)
}
