// Package textparse recovers calls that a model wrote as text, in the markup of its family, because
// the server in between did not know that markup: Hermes and Qwen <tool_call>, Qwen-coder and GLM
// tags, Mistral's [TOOL_CALLS], Llama's JSON and pythonic lists, DeepSeek's and Kimi's sections,
// DeepSeek's DSML, harmony channels, and JSON in a fence.
//
// The one rule: a call is recovered only when its name is an offered tool and its block is whole,
// in a message that ended well; everything else stays text, every byte of it. Nothing is mended
// here: arguments are what the model wrote, and what is cut is never completed.
//
// Start at Recover, then scanner.feed, which decides byte by byte, so that the pieces of a stream
// make no difference; forms.go is the table of markups, tags.go that of the families that write
// arguments in tags, and blocks.go tells calls from text about calls.
//
// Known limits: markup in a message's thinking stays there; a block in a code fence of another
// language, or in backticks or after >, is an example and stays text, and so does one in a sentence
// that goes on behind it; JSON and pythonic calls without any tags count only at the end of a
// message; a call in a sentence that ends with it is taken for one that is made.
package textparse

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"

	"adze/session"
	"adze/tool"
)

// Recover reads a stream of a request. Text that may be the beginning of markup is held back until
// that is known; recovered calls come directly before Done, after those that the server knew
// itself.
func Recover(seq iter.Seq[session.Chunk], r session.Request, newID func() string) iter.Seq[session.Chunk] {
	if len(r.Tools) == 0 {
		return seq
	}
	return func(yield func(session.Chunk) bool) {
		v := recovery{scanner: newScanner(r.Tools), yield: yield, newID: newID}
		for c := range seq {
			if !v.chunk(c) {
				return
			}
		}
	}
}

// recovery is one stream on its way.
type recovery struct {
	*scanner
	yield  func(session.Chunk) bool
	newID  func() string
	native []session.Call
}

// chunk passes one chunk on; if false, the consumer has left.
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

// drain sends what the scanner has decided about.
func (v *recovery) drain() bool {
	ready := v.take()
	for _, c := range ready {
		if !v.yield(c) {
			return false
		}
	}
	return true
}

// done releases the calls, when the message ended well.
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

// known reports whether the server understood the same call and left its text standing.
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
