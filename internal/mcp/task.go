package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
)

// Bounds of a call that runs as a task of the server (protocol 2025-11-25, basic/utilities/tasks).
const (
	// A server says how often it is asked how far a task is, within these.
	shortestPoll = 50 * time.Millisecond
	usualPoll    = time.Second
	longestPoll  = 30 * time.Second
	// keepTask is how long a server is asked to keep a result that nobody fetched.
	keepTask = time.Hour
	// cancelTime is how long a server may take to end a task whose call was ended.
	cancelTime = 2 * time.Second
)

// The states of a task.
const (
	taskInput     = "input_required"
	taskDone      = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// task is what a server says of one.
type task struct {
	ID     string  `json:"taskId"`
	Status string  `json:"status"`
	Note   string  `json:"statusMessage"`
	Poll   float64 `json:"pollInterval"` // milliseconds
}

func (t task) over() bool {
	return t.Status == taskDone || t.Status == taskFailed || t.Status == taskCancelled
}

// pause is how long to wait until the server is asked again.
func (t task) pause() time.Duration {
	every := time.Duration(t.Poll * float64(time.Millisecond))
	return min(max(cmp.Or(every, usualPoll), shortestPoll), longestPoll)
}

// asTask reports whether a tool runs as a task alone. One that may run either way is called as all
// others are. Of a server that did not say that it runs calls as tasks none is asked for.
func asTask(s *sdk.ClientSession, t Tool) bool {
	hello := s.InitializeResult()
	if t.Task != "required" || hello == nil || hello.ProtocolVersion != lastOld || hello.Capabilities == nil {
		return false
	}
	said, _ := hello.Capabilities.Experimental[wire.Tasks].(map[string]any)
	requests, _ := said["requests"].(map[string]any)
	tools, _ := requests["tools"].(map[string]any)
	_, can := tools["call"]
	return can
}

// raw sends a request that the library does not know.
func raw(ctx context.Context, s *sdk.ClientSession, method string, params any) (json.RawMessage, error) {
	p := &sdk.CallToolParams{Meta: sdk.Meta{wire.Raw: wire.Request{Method: method, Params: params}}, Name: wire.Raw}
	got, err := Within(ctx, func() (*sdk.CallToolResult, error) { return s.CallTool(ctx, p) })
	if err != nil {
		return nil, err
	}
	return json.Marshal(got.StructuredContent)
}

// runTask calls a tool as a task: it is begun, asked for until it is over, and its result fetched.
// Where ctx ends first the server is told to end it. The time of the call counts as long as the
// server does not say of the task what it did not say before.
func (c caller) runTask(ctx context.Context, s *sdk.ClientSession, p *sdk.CallToolParams, again func(), show func(string)) (*sdk.CallToolResult, error) {
	begun, err := raw(ctx, s, "tools/call", map[string]any{"name": p.Name, "arguments": p.Arguments, "_meta": p.Meta, "task": map[string]any{"ttl": keepTask.Milliseconds()}})
	if err != nil {
		return nil, err
	}
	var made struct{ Task *task }
	if err := json.Unmarshal(begun, &made); err != nil || made.Task == nil || made.Task.ID == "" {
		return resultOf(begun) // it answered at once
	}
	t := *made.Task
	over := false
	defer func() {
		if !over {
			end, done := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
			defer done()
			_, _ = raw(end, s, "tasks/cancel", map[string]any{"taskId": t.ID}) // the call is over all the same
		}
	}()
	var last task
	for !t.over() && t.Status != taskInput {
		if t.Status != last.Status || t.Note != last.Note {
			again()
			show(taskLine(t))
		}
		last = t
		timer := time.NewTimer(t.pause())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		said, err := raw(ctx, s, "tasks/get", map[string]any{"taskId": t.ID})
		if err != nil {
			return nil, err
		}
		id := t.ID
		if err := json.Unmarshal(said, &t); err != nil {
			return nil, fmt.Errorf("what it says of the task cannot be read: %w", err)
		}
		t.ID = id
	}
	show(taskLine(t))
	// What the task asks for comes while its result is waited for.
	said, err := raw(ctx, s, "tasks/result", map[string]any{"taskId": t.ID})
	if err != nil {
		if over = t.over(); over {
			return nil, fmt.Errorf("the task has %s (%s): %w", cmp.Or(map[string]string{taskCancelled: "been cancelled"}[t.Status], t.Status), Line(t.Note, 200), err)
		}
		return nil, err
	}
	over = true
	return resultOf(said)
}

// resultOf reads the result of a call.
func resultOf(raw json.RawMessage) (*sdk.CallToolResult, error) {
	out := &sdk.CallToolResult{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("its result cannot be read: %w", err)
	}
	if out.Content == nil && out.StructuredContent == nil && !out.IsError {
		return nil, errors.New("its result is none of a tool")
	}
	return out, nil
}

func taskLine(t task) string {
	if note := Line(t.Note, 200); note != "" {
		return "task " + Line(t.Status, 40) + ": " + note
	}
	return "task " + Line(t.Status, 40)
}
