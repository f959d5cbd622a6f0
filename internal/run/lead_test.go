package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const reviewer = `---
name: reviewer
description: Reviews changes: the diff, and what it forgot.
tools: Read, Grep, Task
permissionMode: plan
maxTurns: 3
---
You are the reviewer. Begin with READY.
`

// A project's agent takes a task as it is: its prompt, its tools, and no wider mode than its file
// says.
func TestATaskForAnAgentOfTheProject(t *testing.T) {
	u := newUser(t)
	u.file(".claude/agents/reviewer.md", reviewer)
	u.file(".agents/agents/wide.md", "---\ndescription: Wants all.\npermission_mode: yolo\ntools:\n  - teleport\n  - write\n---\nx\n")
	steps := `-- 1 --
call task: {"description":"look","prompt":"p","agent":"reviewer"}
call task: {"description":"do","prompt":"p","agent":"wide"}
-- 2 --
expect task completed: READY
expect task completed: asked for
text: both
-- reviewer: 1 --
call write: {"path":"a","content":"x\n"}
-- reviewer: 2 --
expect write invalid: use one of: read, grep$
text: READY
-- wide: 1 --
call write: {"path":"a","content":"x\n"}
-- wide: 2 --
expect write denied: not allowed; add --allow 'write.work:...' for all edits
text: asked for
`
	r := u.run("-p", "--output-format=stream-json", u.script(steps), "go").wants(0,
		"the agent wide (.agents/agents/wide.md): there are no tools teleport; its file wants the permission mode yolo; it works in ask")
	if r.result()["text"] != "both" {
		t.Errorf("result %v", r.result())
	}
	// The system prompt of the main conversation lists them; the tools do not change by it.
	u.run("audit", "verify", "--all").wants(0, "3 sessions checked, all sound")
}

// Where agents lie changes what the prompt lists, and not a byte of the tools.
func TestAgentsOfAProjectDoNotChangeTheTools(t *testing.T) {
	llama := newLlama(t)
	u := newUser(t)
	u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(llama.URL, "http://"))
	u.configure(`{"task_model": "ollama/coder:7b"}`)
	request := func() (tools, whole string) {
		llama.mu.Lock()
		llama.first = nil
		llama.mu.Unlock()
		u.run("-p", "--model", "ollama/coder:7b", "--max-turns", "1", "hi")
		llama.mu.Lock()
		defer llama.mu.Unlock()
		var sent struct{ Tools json.RawMessage }
		if err := json.Unmarshal(llama.first, &sent); err != nil {
			t.Fatal(err)
		}
		return string(sent.Tools), string(llama.first)
	}
	before, _ := request()
	u.file(".claude/agents/reviewer.md", reviewer)
	after, whole := request()
	if before != after || before == "" {
		t.Errorf("the tools changed by %d bytes", len(after)-len(before))
	}
	if !strings.Contains(whole, `- reviewer: Reviews changes: the diff, and what it forgot.`) || strings.Contains(whole, "READY") {
		t.Errorf("the prompt does not list the agent, or holds its text")
	}
}

// --agent has an agent lead the conversation, which keeps it; it only narrows.
func TestAnAgentLeadsAConversation(t *testing.T) {
	u := newUser(t)
	u.file(".claude/agents/reviewer.md", reviewer)
	steps := `-- 1 --
call write: {"path":"a","content":"x\n"}
call read: {"path":"main.go"}
-- 2 --
expect write invalid: use one of: read, grep, task$
text: READY
`
	u.file("main.go", "package main\n")
	r := u.run("-p", "--output-format=stream-json", "--permission-mode=yolo", "--agent", "reviewer", u.script(steps), "go").wants(0)
	init := r.lines()[0]
	if init["agent"] != "reviewer" || init["permission_mode"] != "plan" {
		t.Errorf("init %v", init)
	}
	again := u.run("-p", "--output-format=stream-json", "--permission-mode=yolo", "--continue", u.script(steps), "more").wants(0)
	if init := again.lines()[0]; init["agent"] != "reviewer" || init["permission_mode"] != "plan" || fmt.Sprint(init["tools"]) != "[read grep task]" {
		t.Errorf("init of the next run %v", init)
	}
	u.run("-p", "--agent", "reviewer", "--max-turns", "9", u.script("-- 1 --\ncall read: {\"path\":\"main.go\"}\n-- 2 --\ncall read: {\"path\":\"a\"}\n-- 3 --\ncall read: {\"path\":\"b\"}\n-- 4 --\ntext: never\n"), "go").wants(6, "3 model requests")
	u.run("-p", "--agent", "reviwer", u.script("-- 1 --\n"), "go").wants(2, "did you mean reviewer", ".claude/agents")
	u.run("-p", "--agent", "explore", u.script("-- 1 --\n"), "go").wants(2, "only takes tasks")
	u.run("-p", "--continue", "--agent", "explore", u.script("-- 1 --\n"), "go").wants(2, "is led by reviewer")
	if err := os.Remove(filepath.Join(u.dir, ".claude/agents/reviewer.md")); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--continue", "--output-format=stream-json", u.script("-- 1 --\ntext: on\n"), "go").wants(0, "the agent reviewer that leads this session is not there any more")
	u.run("-p", "--bare", "--agent", "reviewer", u.script("-- 1 --\n"), "go").wants(2, "there is no agent")
}

// The file of a project does not choose which company reads the code; that of the user does.
func TestTheModelOfAnAgent(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "ANTHROPIC_API_KEY=sk-ant-test0000000000000000")
	u.file(".claude/agents/other.md", "---\nname: other\nmodel: anthropic/claude-haiku-4-5\n---\nx\n")
	u.file(".claude/agents/none.md", "---\nname: none\nmodel: opus\n---\nx\n")
	steps := `-- 1 --
call task: {"description":"a","prompt":"p","agent":"other"}
call task: {"description":"b","prompt":"p","agent":"none"}
-- 2 --
expect task completed: here
text: done
-- other: 1 --
text: here
-- none: 1 --
text: here
`
	u.run("-p", "--output-format=stream-json", u.script(steps), "go").wants(0, "chooses no provider", `its model \"opus\" cannot be used`)
	small := filepath.Join(u.home, "small.txtar")
	if err := os.WriteFile(small, []byte("# small\n-- 1 --\n-- mine: 1 --\ntext: cheap\nusage: input=7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(u.home, "agents")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "mine.md"), []byte("---\nmodel: script/"+small+"\n---\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := u.run("-p", "--output-format=json", u.script("-- 1 --\ncall task: {\"description\":\"a\",\"prompt\":\"p\",\"agent\":\"mine\"}\n-- 2 --\nexpect task completed: cheap\ntext: done\n"), "go").wants(0).result()
	if usage := fmt.Sprint(got["usage"]); !strings.Contains(usage, "script/"+small+":map[input:7") {
		t.Errorf("usage %s", usage)
	}
}

// A prompt that begins with an agent's name goes to that agent; its report is the answer, and in
// the conversation for what is asked next. Any other @ is as it was.
func TestAPromptForAnAgent(t *testing.T) {
	u := newUser(t)
	u.file(".claude/agents/reviewer.md", reviewer)
	got := u.run("-p", "--output-format=json", u.script("-- 1 --\ntext: never\n-- reviewer: 1 --\nexpect prompt: ^look at it$\ntext: READY\nusage: input=7\n"), "@reviewer look at it").wants(0).result()
	if got["text"] != "READY" || !strings.Contains(fmt.Sprint(got["usage"]), "input:7") {
		t.Errorf("result %v", got)
	}
	u.run("-p", "--continue", u.script("-- 1 --\nexpect prompt: ^and now$\ntext: I know.\n"), "and now").wants(0, "I know.")
	u.run("-p", u.script("-- 1 --\n-- reviewer: 1 --\ntext: half\nfail: auth the key is gone\n"), "@reviewer look").wants(8, "the key is gone")
	for _, prompt := range []string{"@nobody look", "see @reviewer look", "@reviewer", "@src/reviewer look"} {
		u.run("-p", u.script("-- 1 --\ntext: asked\n"), prompt).wants(0, "asked")
	}
	u.run("-p", "--tools", "read", u.script("-- 1 --\ntext: asked\n"), "@reviewer look").wants(0, "asked")
	u.run("audit", "verify", "--all").wants(0, "all sound")
}
