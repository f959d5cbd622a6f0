package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
	"adze/tool"
)

const taskTool = `{"name":"echo","description":"says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"execution":{"taskSupport":"required"}}`

// TestAToolThatRunsAsATask is begun, asked for and fetched; what it asks for meanwhile is asked;
// one that is taken back is cancelled at the server.
func TestAToolThatRunsAsATask(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	p := seen(t, map[string]string{"fake": "old; tasks; tool " + taskTool + "; tell " + told}, func(o *Options) {
		o.Client = func(_ string, c *sdk.ClientOptions) {
			c.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
			c.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				if form, _ := r.Params.RequestedSchema.(map[string]any); !strings.Contains(fmt.Sprint(form[wire.Schema]), `"z":{"type":"string"}`) {
					t.Errorf("%+v", form)
				}
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"z": "this"}}, nil
			}
		}
	})
	b := newBench(t, p)
	var progress []string
	b.runner.Emit = func(e tool.Event) {
		var m meta
		if json.Unmarshal(e.Metadata, &m) == nil && m.Progress != "" {
			progress = append(progress, m.Progress)
		}
	}
	b.wants(t, "echo", `{"text":"work"}`, tool.Completed, "the result of work")
	if all := strings.Join(progress, "; "); !strings.Contains(all, "task working") || !strings.Contains(all, "task completed: step 2") {
		t.Error(all)
	}
	b.runner.Emit = nil
	b.wants(t, "echo", `{"text":"input"}`, tool.Completed, `{"action":"accept","content":{"z":"this"}}`)
	b.wants(t, "echo", `{"text":"fail"}`, tool.Failed, "the task has failed (step 2): ")
	ctx, cancel := context.WithCancel(t.Context())
	b.runner.Emit = func(e tool.Event) {
		if strings.Contains(string(e.Metadata), "task working: step") {
			cancel()
		}
	}
	if o := b.call(ctx, "fake_echo", `{"text":"for ever"}`); o.Status != tool.Aborted {
		t.Errorf("%s %q", o.Status, o.Output)
	}
	raw, err := os.ReadFile(told)
	if err != nil || strings.Count(string(raw), "tasks/cancel\n") != 1 || strings.Count(string(raw), "tasks/result\n") != 3 {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestAToolOfAServerWithoutTasks is called as all others are, whatever it says of itself.
func TestAToolOfAServerWithoutTasks(t *testing.T) {
	b := newBench(t, seen(t, map[string]string{"fake": "old; tool " + taskTool}, nil))
	b.wants(t, "echo", `{"text":"work"}`, tool.Completed, "work")
	b = newBench(t, seen(t, map[string]string{"fake": "old; tasks"}, nil))
	b.wants(t, "echo", `{"text":"work"}`, tool.Completed, "work")
}
