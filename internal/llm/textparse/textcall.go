// Package textparse recovers calls that a model wrote as text in its family's markup, because the
// server did not know that markup: Hermes and Qwen <tool_call>, Qwen-coder and GLM tags, Mistral's
// [TOOL_CALLS], Llama's JSON and pythonic lists, DeepSeek's and Kimi's sections, DeepSeek's DSML,
// harmony channels, and JSON in a fence.
//
// The one rule: a call is recovered only if its name is an offered tool and its block is complete,
// in a message that ended well; every other byte stays text. Arguments are passed on as written,
// and truncated ones are never completed.
//
// Start at Recover, then scanner.feed, which decides byte by byte, so that stream boundaries make
// no difference; forms.go is the table of markups, tags.go reads arguments in tags, and blocks.go
// distinguishes calls from text about calls.
//
// Known limits: markup in thinking stays there; a block in a code fence of another language, in
// backticks or after > is an example and stays text, as does one in a sentence that continues after
// it; JSON and pythonic calls without tags count only at the end of a message; a call at the end of
// a sentence is taken for a real one.
package textparse

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"

	"adze/session"
	"adze/tool"
)

// Recover filters the answer to a request. Text that may begin markup is held back until decided;
// recovered calls come directly before Done, after the server's own.
func Recover(seq iter.Seq[session.Chunk], r session.Request, newID func() string) iter.Seq[session.Chunk] {
	if len(r.Tools) == 0 {
		return seq
	}
	return func(yield func(session.Chunk) bool) {
		s := &scanner{tools: &tools{list: r.Tools}, line: line{blank: true}, forms: formsByStart()}
		v := recovery{scanner: s, yield: yield, newID: newID}
		for c := range seq {
			if !v.chunk(c) {
				return
			}
		}
	}
}

type recovery struct {
	*scanner
	yield  func(session.Chunk) bool
	newID  func() string
	native []session.Call
}

// chunk passes one chunk on; it returns false if the consumer has stopped.
func (v *recovery) chunk(c session.Chunk) bool {
	switch c := c.(type) {
	case session.Text:
		v.feed(c.Delta)
		return v.drain()
	case session.Call:
		v.native = append(v.native, c)
	case session.Done:
		return v.done(c)
	}
	return v.yield(c)
}

func (v *recovery) drain() bool {
	ready := v.take()
	for _, c := range ready {
		if !v.yield(c) {
			return false
		}
	}
	return true
}

// done releases the calls if the message ended well.
func (v *recovery) done(d session.Done) bool {
	d.TextCalls = true
	well := d.Err == nil && (d.Stop == session.StopEnd || d.Stop == session.StopCalls)
	found := v.finish(well)
	if !v.drain() {
		return false
	}
	var calls []session.Call
	for _, f := range found {
		if !v.known(f) {
			calls = append(calls, session.Call{RawCall: tool.RawCall{
				ID: tool.CallID(v.newID()), Name: f.name, Arguments: f.arguments, Origin: tool.FromText,
			}})
		}
	}
	for _, c := range calls {
		if !v.yield(session.Forming{ID: c.ID, Name: c.Name, Bytes: len(c.Arguments)}) {
			return false
		}
	}
	for _, c := range calls {
		if !v.yield(c) {
			return false
		}
	}
	if len(calls) > 0 {
		d.Stop = session.StopCalls
	}
	return v.yield(d)
}

// known reports whether the server itself returned the same call and left its text in place.
func (v *recovery) known(f blockCall) bool {
	for _, c := range v.native {
		if c.Name == f.name && sameJSON(c.Arguments, f.arguments) {
			return true
		}
	}
	return false
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal(orEmpty(a), &x) != nil || json.Unmarshal(orEmpty(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

func orEmpty(s string) []byte {
	if trimmed := bytes.TrimSpace([]byte(s)); len(trimmed) > 0 {
		return trimmed
	}
	return []byte("{}")
}
