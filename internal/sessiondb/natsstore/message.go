package natsstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"adze/internal/sessiondb"
	"adze/session"
)

// version of what messages look like.
const version = 1

// body is the text of a message: an append.
type body struct {
	Version int    `json:"v"`
	First   int64  `json:"first"` // number of the first entry, from 1
	Entries []line `json:"entries"`
}

// line is an entry.
type line struct {
	Type session.EntryType `json:"type"`
	Time int64             `json:"time"`           // nanoseconds since 1970; if 0, none
	Data []byte            `json:"data,omitempty"` // Base64: a log gives back the very bytes
	Blob *blob             `json:"blob,omitempty"` // in the place of Data
	Hash string            `json:"hash"`
}

// blob is data in the object store.
type blob struct {
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
}

// Headers of a message: what a list shows, and a writer goes on from.
const (
	headerEntries = "Adze-Entries" // of the session up to here
	headerHash    = "Adze-Hash"    // of the last one
	headerCreated = "Adze-Created" // nanoseconds
	headerUpdated = "Adze-Updated"
	headerStart   = "Adze-Start" // shortened, JSON
	headerFirst   = "Adze-First"
)

// tip is the end of a log, and what a list shows of it.
type tip struct {
	sequence uint64 // of the message; if 0, there is none
	entries  int64
	hash     []byte
	created  int64
	updated  int64
	start    json.RawMessage
	first    json.RawMessage
}

// headers are those of the message that makes t the end.
func (t tip) headers() nats.Header {
	h := nats.Header{
		headerEntries: {strconv.FormatInt(t.entries, 10)}, headerHash: {hex.EncodeToString(t.hash)},
		headerCreated: {strconv.FormatInt(t.created, 10)}, headerUpdated: {strconv.FormatInt(t.updated, 10)},
	}
	if len(t.start) > 0 {
		h.Set(headerStart, oneLine(t.start))
	}
	if len(t.first) > 0 {
		h.Set(headerFirst, oneLine(t.first))
	}
	return h
}

// oneLine escapes what a header cannot hold: the JSON stays the same text for who reads it.
func oneLine(data json.RawMessage) string { return strconv.Quote(string(data)) }

func fromLine(text string) json.RawMessage {
	if data, err := strconv.Unquote(text); err == nil {
		return json.RawMessage(data)
	}
	return nil
}

// tipOf reads the headers of a message.
func tipOf(sequence uint64, h nats.Header) (t tip, err error) {
	t.sequence = sequence
	t.start, t.first = fromLine(h.Get(headerStart)), fromLine(h.Get(headerFirst))
	for name, to := range map[string]*int64{headerEntries: &t.entries, headerCreated: &t.created, headerUpdated: &t.updated} {
		if *to, err = strconv.ParseInt(h.Get(name), 10, 64); err != nil {
			return t, fmt.Errorf("%w: message %d has no header %s", sessiondb.ErrDamaged, sequence, name)
		}
	}
	if t.hash, err = hex.DecodeString(h.Get(headerHash)); err != nil || len(t.hash) == 0 {
		return t, fmt.Errorf("%w: message %d has no header %s", sessiondb.ErrDamaged, sequence, headerHash)
	}
	return t, nil
}

// follow is the end of the log once entries stand behind t.
func (t tip) follow(id session.ID, entries []session.Entry) (tip, []line) {
	next, lines := t, make([]line, len(entries))
	if t.entries == 0 {
		next.created = sessiondb.Nanos(entries[0].Time)
	}
	for i, e := range entries {
		next.entries++
		next.hash = sessiondb.Sum(id, next.entries, next.hash, e)
		lines[i] = line{Type: e.Type, Time: sessiondb.Nanos(e.Time), Data: e.Data, Hash: hex.EncodeToString(next.hash)}
		switch {
		case e.Type == session.StartEntry && next.start == nil:
			next.start = sessiondb.Shorten(e.Data)
		case e.Type == session.MessageEntry && next.first == nil:
			next.first = sessiondb.Shorten(e.Data)
		}
	}
	next.updated = sessiondb.Nanos(entries[len(entries)-1].Time)
	return next, lines
}

// Sizes in bytes: a message is at most 1 MiB by default (max_payload), headers included.
const (
	largeData = 256 << 10 // data goes to the object store from here on
	largeBody = 768 << 10 // and more of it when all together is that large
	smallData = 1 << 10   // which a name would not shorten
)

// encode makes the text of a message. What is large goes to the object store before.
func (s *Store) encode(ctx context.Context, first int64, lines []line) ([]byte, error) {
	for i := range lines {
		if len(lines[i].Data) >= largeData {
			if err := s.apart(ctx, &lines[i]); err != nil {
				return nil, err
			}
		}
	}
	text, err := json.Marshal(body{version, first, lines})
	if err != nil || len(text) <= largeBody {
		return text, err
	}
	for i := range lines {
		if len(lines[i].Data) >= smallData {
			if err := s.apart(ctx, &lines[i]); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(body{version, first, lines})
}

func (s *Store) apart(ctx context.Context, l *line) error {
	blobs, err := s.large(ctx)
	var name string
	if err == nil {
		name, err = blobs.Keep(ctx, bytes.NewReader(l.Data))
	}
	if err != nil {
		return fmt.Errorf("%d bytes of an entry: %w", len(l.Data), err)
	}
	l.Blob, l.Data = &blob{name, len(l.Data)}, nil
	return nil
}

// decode gives back the entries of a message, and checks them against the chain.
func (s *Store) decode(ctx context.Context, id session.ID, at *tip, text []byte) ([]session.Entry, error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, bad(id, at.entries+1, "is not readable: "+err.Error())
	}
	if b.Version > version {
		return nil, fmt.Errorf("session %s was written by a newer adze (format %d)", id, b.Version)
	}
	if b.Version < 1 || b.First != at.entries+1 || len(b.Entries) == 0 {
		return nil, bad(id, at.entries+1, "is missing")
	}
	out := make([]session.Entry, len(b.Entries))
	for i, l := range b.Entries {
		e := session.Entry{Type: l.Type, Time: sessiondb.FromNanos(l.Time), Data: l.Data}
		if l.Blob != nil {
			var whole bytes.Buffer
			blobs, err := s.large(ctx)
			if err == nil {
				err = blobs.Fetch(ctx, l.Blob.SHA256, &whole)
			}
			if err != nil {
				return out[:i], s.lostBlob(id, at.entries+1, l.Blob, err)
			}
			e.Data = whole.Bytes()
		}
		sum := sessiondb.Sum(id, at.entries+1, at.hash, e)
		if hex.EncodeToString(sum) != l.Hash {
			return out[:i], bad(id, at.entries+1, "does not fit its hash: it was changed, or stood elsewhere")
		}
		at.entries, at.hash, out[i] = at.entries+1, sum, e
	}
	return out, nil
}
