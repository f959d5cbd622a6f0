package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/text/hypertext"
	"adze/internal/text/jsontext"
	"adze/session"
	"adze/tool"
)

func (m Message) check() error {
	switch {
	case m.ID == "":
		return errors.New("it has no id")
	case m.Speaker != Person && m.Speaker != Model && m.Speaker != Adze:
		return fmt.Errorf("%q is nobody who speaks in a session", m.Speaker)
	case m.OwnCommand && (m.Speaker != Person || len(m.Parts) != 1 || m.Parts[0].Call == nil):
		return errors.New("what the person ran is one call")
	}
	known := map[tool.CallID]bool{}
	for i, p := range m.Parts {
		if err := p.check(m, known); err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	return nil
}

func (p Part) check(m Message, known map[tool.CallID]bool) error {
	set := 0
	for _, is := range []bool{p.Text != "", p.Picture != nil, p.Call != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("it is a text, a picture or a call, and one of them")
	case p.Picture != nil && (hypertext.PictureType(p.Picture.Data) == "" || len(p.Picture.Data) > maxPicture):
		return errors.New("this is no picture that an export holds")
	case p.Picture != nil && m.Speaker != Person:
		return errors.New("only the person attaches pictures")
	case p.Call == nil:
		return nil
	case m.Speaker != Model && !m.OwnCommand:
		return errors.New("only the model calls tools, or the person with one of their own")
	case p.Call.ID == "" || p.Call.Tool == "":
		return errors.New("a call has an id and a tool")
	case known[p.Call.ID]:
		return fmt.Errorf("there is a call %q already", p.Call.ID)
	}
	known[p.Call.ID] = true
	for _, fields := range []*json.RawMessage{&p.Call.Arguments, &p.Call.Metadata} {
		if err := compact(fields); err != nil {
			return err
		}
	}
	if p.Call.Status != "" && !ends(p.Call.Status) {
		return fmt.Errorf("no call ends %q", p.Call.Status)
	}
	return nil
}

// ImportOptions configure Entries.
type ImportOptions struct {
	Tools  Tools // the known tools; fields they do not expose are dropped
	Cwd    string
	Time   time.Time
	SHA256 string // of the file
}

// Entries converts a document to a log. If the session is continued, the model is informed that
// outputs are missing. Nothing in a document grants permissions.
func (d *Document) Entries(o ImportOptions) ([]session.Entry, error) {
	i := &importer{options: o}
	from := session.Import{Session: d.Session, At: o.Time, SHA256: o.SHA256}
	whole := from
	whole.Title, whole.Cwd, whole.Lead, whole.Agent, whole.Created, whole.LeftOut = d.Title, d.Cwd, d.Lead, d.Agent, d.Created, d.LeftOut
	i.add(session.StartEntry, o.Time, session.Start{Version: cmp.Or(d.Version, "unknown"), Cwd: o.Cwd, Model: d.Model, Imported: &whole})
	for _, m := range d.Messages {
		i.message(m)
	}
	i.add(session.ImportEntry, o.Time, from)
	return i.log, i.err
}

type importer struct {
	options ImportOptions
	log     []session.Entry
	err     error
}

func (i *importer) add(kind session.EntryType, at time.Time, data any) {
	raw, err := jsontext.Marshal(data)
	if i.err == nil {
		i.err = err
	}
	i.log = append(i.log, session.Entry{Type: kind, Time: at, Data: raw})
}

func (i *importer) message(m Message) {
	out := session.Message{ID: m.ID, Role: session.Role(m.Speaker), Provider: m.Provider, Model: m.Model, Stop: m.Stop, Usage: m.Usage, Duration: m.Duration}
	kind := session.MessageEntry
	if m.Speaker == Adze {
		out.Role, out.Note, kind = session.User, true, session.NoteEntry
	}
	for _, p := range m.Parts {
		switch {
		case p.Picture != nil:
			a := tool.Attachment{Name: p.Picture.Name, MediaType: hypertext.PictureType(p.Picture.Data), Data: p.Picture.Data}
			out.Parts = append(out.Parts, session.Part{Kind: session.AttachmentPart, Attachment: &a})
		case p.Call != nil && m.OwnCommand:
			out.OwnCall = p.Call.ID
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: NoOwn})
		case p.Call != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: p.Call.ID, Name: p.Call.Tool, Arguments: object(i.fields(p.Call.Tool, p.Call.Arguments))}})
		default:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: p.Text})
		}
	}
	i.add(kind, m.Time, out)
	for _, p := range m.Parts {
		if p.Call != nil && p.Call.Status != "" {
			i.outcome(m.ID, *p.Call)
		}
	}
	if e := m.End; e != nil {
		i.add(session.EndEntry, e.Time, session.Result{Cause: e.Cause, Message: e.Message, Cost: e.Cost, Duration: e.Duration, Changed: e.Changed})
	}
}

// outcome keeps a call's exposed fields: a file may contain anything.
func (i *importer) outcome(message string, c Call) {
	o := tool.Outcome{Call: c.ID, Tool: c.Tool, Status: c.Status, Code: c.Code, Output: NoOutput, Changed: c.Changed, Duration: c.Duration}
	o.Heading.Verb, o.Heading.Object, _ = strings.Cut(c.Heading, " ") // with the result
	o.Metadata = i.metadata(c)
	o.Record = tool.Record{Message: message, Call: c.ID, Tool: c.Tool, Origin: tool.Native, Args: json.RawMessage(object(i.fields(c.Tool, c.Arguments))),
		Status: c.Status, Code: c.Code, Duration: c.Duration, Start: c.Time.Add(-c.Duration)}
	i.add(session.OutcomeEntry, c.Time, o)
}

func (i *importer) fields(name string, raw json.RawMessage) json.RawMessage {
	if i.options.Tools == nil || len(raw) == 0 {
		return nil
	}
	return i.options.Tools.Redact(name, raw)
}

// metadata returns a call's metadata with its diff, if the tool has one.
func (i *importer) metadata(c Call) json.RawMessage {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(i.fields(c.Tool, c.Metadata), &fields) // on error there are no fields
	if c.Diff != "" {
		fields["diff"], _ = jsontext.Marshal(c.Diff)
	}
	if len(fields) == 0 {
		return nil
	}
	raw, _ := jsontext.Marshal(fields)
	return raw
}

func object(raw json.RawMessage) string {
	if len(raw) == 0 {
		return `{}`
	}
	return string(raw)
}

func compact(fields *json.RawMessage) error {
	if len(*fields) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, *fields); err != nil || b.Bytes()[0] != '{' {
		return errors.New("arguments and metadata of a call are objects")
	}
	*fields = b.Bytes()
	return nil
}
