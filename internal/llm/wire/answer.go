package wire

import (
	"bytes"
	"encoding/json"
	"io"

	"adze/session"
)

// Answer is one answer while an adapter reads it. What a format adds to it stands beside it in the
// adapter.
type Answer struct {
	Client *Client
	Reply  *Reply
	Out    *Out
	Calls  Calls
	Done   session.Done
}

// Read reads the whole answer: event by event until ended, or as one text from a server that does
// not stream. Done says that [DONE] came.
func (a *Answer) Read(ended *bool, read func(e Event, last bool) error, single func(body []byte) error) (done bool, err error) {
	body, whole, err := a.Single()
	if err == nil && whole {
		return true, single(body)
	}
	if err != nil {
		return false, err
	}
	return a.Events(ended, read)
}

// Events hands over each event of a stream until ended, or until nothing more comes; done says that
// [DONE] came.
func (a *Answer) Events(ended *bool, read func(e Event, last bool) error) (done bool, err error) {
	events := NewEvents(a.Reply)
	for !*ended {
		e, err := events.Next()
		switch {
		case err == io.EOF || a.Reply.OnlyTail(err):
			return false, nil
		case err != nil:
			return false, a.Client.Framing(err)
		case string(bytes.TrimSpace(e.Data)) == "[DONE]":
			a.Reply.Settle()
			return true, nil
		case string(e.Name) == "error" && !bytes.ContainsAny(e.Data, "{["):
			return false, a.Client.Object(JSON(string(e.Data))) // a failure in words
		}
		e.Data = markHalves(e.Data)
		if err := read(e, events.Unfinished()); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Decode reads one piece of the stream; last says that nothing whole follows it.
func (a *Answer) Decode(data []byte, last bool, into any) error {
	data = markHalves(data)
	if err := json.Unmarshal(data, into); err != nil {
		return a.Client.Malformed(data, last)
	}
	return nil
}

// Grow adds a piece to the calls and passes on what forms.
func (a *Answer) Grow(f Fragment) error {
	forming, err := a.Calls.Add(f)
	if err != nil {
		return a.Client.Framing(err)
	}
	return a.Out.Send(forming)
}

// Whole adds a call that a format always sends whole. One that is told again with its id, as
// gateways do that repeat the answer so far, is the same call.
func (a *Answer) Whole(id Word, name string, arguments json.RawMessage, opaque json.RawMessage) error {
	text, err := Arguments(arguments)
	if err != nil {
		return a.Client.Framing(err)
	}
	f := Fragment{New: true, ID: string(id), Index: a.Calls.Len(), Name: name, Arguments: text, Opaque: opaque}
	if a.Calls.told(f) {
		return nil
	}
	return a.Grow(f)
}

// Conclude ends a whole answer: with its calls, where it has some. Opaque is what goes back with
// the call at a place; if nil, nothing does.
func (a *Answer) Conclude(opaque func(i int) json.RawMessage) error {
	if a.Calls.Len() == 0 {
		a.Done.Stop = session.StopEnd
		return nil
	}
	calls, err := a.Calls.Release()
	if err != nil {
		return a.Client.Framing(err)
	}
	for i := range calls {
		if opaque == nil {
			break
		}
		if o := opaque(i); o != nil {
			calls[i].Opaque = o
		}
	}
	a.Done.Stop = session.StopCalls
	return a.Out.Release(calls)
}
