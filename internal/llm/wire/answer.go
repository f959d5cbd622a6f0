package wire

import (
	"bytes"
	"encoding/json"
	"io"

	"adze/session"
)

// An Answer is an answer being read. Adapters embed it in their own state.
type Answer struct {
	Client *Client
	Reply  *Reply
	Chunks *ChunkSender
	Calls  Calls
	Done   session.Done
}

// Read reads the whole answer: by events until ended is set, or as one text from a server that does
// not stream. done reports whether [DONE] came.
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

// Events calls read for each event until ended is set or the stream ends; done reports whether
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
			a.Reply.MarkEnd()
			return true, nil
		case string(e.Name) == "error" && !bytes.ContainsAny(e.Data, "{["):
			return false, a.Client.Object(JSON(string(e.Data))) // a plain-text error
		}
		e.Data = markHalves(e.Data)
		if err := read(e, events.Unfinished()); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Decode decodes one piece of the stream; last means that nothing complete follows it.
func (a *Answer) Decode(data []byte, last bool, into any) error {
	data = markHalves(data)
	if err := json.Unmarshal(data, into); err != nil {
		return a.Client.Malformed(data, last)
	}
	return nil
}

// Grow adds a fragment to the calls and sends the progress.
func (a *Answer) Grow(f Fragment) error {
	forming, err := a.Calls.Add(f)
	if err != nil {
		return a.Client.Framing(err)
	}
	return a.Chunks.Send(forming)
}

// AddCall adds a complete call. A repeated id, from gateways that resend the answer so far, is the
// same call.
func (a *Answer) AddCall(id Word, name string, arguments json.RawMessage, opaque json.RawMessage) error {
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

// Conclude ends a complete answer and releases its calls. opaque returns the data to send back with
// the i-th call; may be nil.
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
	return a.Chunks.Release(calls)
}
