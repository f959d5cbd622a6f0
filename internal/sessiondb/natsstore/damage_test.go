package natsstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/internal/testkit/natstest"
	"adze/internal/testkit/storetest"
	"adze/session"
)

// rewritten is the log with other messages in its place: the stream itself lets nobody change one.
func rewritten(t *testing.T, c *natstest.Cluster, s *Store, id session.ID, change func([]*nats.Msg) []*nats.Msg) {
	t.Helper()
	js := s.conn.JetStream()
	var all []*nats.Msg
	for n := uint64(1); ; n++ {
		m, err := s.log.GetMsg(t.Context(), n)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for name := range m.Header {
			if strings.HasPrefix(name, "Nats-") {
				m.Header.Del(name)
			}
		}
		all = append(all, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
	}
	config := s.log.CachedInfo().Config
	err := c.Clear(t.Context(), js, streamName)
	if err != nil {
		t.Fatal(err)
	}
	if s.log, err = js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for _, m := range change(all) {
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangedMessagesAreDamageAndNeverAShorterLog(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	s := opened(t, server.URL(), Options{})
	changed := func(m *nats.Msg, from, to string) *nats.Msg {
		var b body
		if err := json.Unmarshal(m.Data, &b); err != nil {
			t.Fatal(err)
		}
		b.Entries[0].Data = bytes.ReplaceAll(b.Entries[0].Data, []byte(from), []byte(to))
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return &nats.Msg{Subject: m.Subject, Header: m.Header, Data: text}
	}
	for _, c := range []struct {
		name   string
		sound  int
		change func([]*nats.Msg) []*nats.Msg
	}{
		{"nothing", 4, func(m []*nats.Msg) []*nats.Msg { return m }},
		{"a word", 1, func(m []*nats.Msg) []*nats.Msg { m[1] = changed(m[1], "user", "evil"); return m }},
		{"one is missing", 1, func(m []*nats.Msg) []*nats.Msg { return slices.Delete(m, 1, 2) }},
		{"the first is missing", 0, func(m []*nats.Msg) []*nats.Msg { return m[1:] }},
		{"two changed places", 1, func(m []*nats.Msg) []*nats.Msg { m[1], m[2] = m[2], m[1]; return m }},
		{"one comes twice", 4, func(m []*nats.Msg) []*nats.Msg { return append(m, m[3]) }},
		{"rubbish", 1, func(m []*nats.Msg) []*nats.Msg { m[1].Data = []byte("rubbish"); return m }},
		{"rubbish at the end", 4, func(m []*nats.Msg) []*nats.Msg {
			return append(m, &nats.Msg{Subject: m[0].Subject, Data: []byte("{}")})
		}},
		{"another hash at the end", 4, func(m []*nats.Msg) []*nats.Msg { m[3].Header.Set(headerHash, "00"); return m }},
	} {
		t.Run(c.name, func(t *testing.T) {
			rewritten(t, server, s, "one", func([]*nats.Msg) []*nats.Msg { return nil })
			s.writers = map[session.ID]*writer{}
			id := session.ID(c.name)
			for n := range 4 {
				if err := s.Append(t.Context(), id, storetest.Entry(n)); err != nil {
					t.Fatal(err)
				}
			}
			rewritten(t, server, s, id, c.change)
			sound, err := s.Verify(t.Context(), id)
			if sound != c.sound || errors.Is(err, sessiondb.ErrDamaged) != (c.name != "nothing") {
				t.Errorf("%d sound entries, %v", sound, err)
			}
			if got, loaded := s.Load(t.Context(), id); (loaded == nil) != (err == nil) || loaded != nil && got != nil {
				t.Errorf("loaded %d entries, %v", len(got), loaded)
			}
		})
	}
}

func TestALostContentIsDamage(t *testing.T) {
	s := opened(t, natstest.Start(t, natstest.Options{}).URL(), Options{})
	large := session.Entry{Type: session.OutcomeEntry, Time: storetest.Clock(1), Data: json.RawMessage(`"` + strings.Repeat("x", 10<<20) + `"`)}
	if err := s.Append(t.Context(), "one", storetest.Entry(0), large); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load(t.Context(), "one"); err != nil || len(got) != 2 || len(got[1].Data) != len(large.Data) {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	if err := s.conn.JetStream().DeleteObjectStore(t.Context(), "ADZE_BLOB"); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.blobs, err = s.conn.Blobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sound, err := s.Verify(t.Context(), "one"); sound != 1 || !errors.Is(err, sessiondb.ErrDamaged) {
		t.Errorf("%d sound, %v", sound, err)
	}
}

func TestAFullStreamSaysSoAndLosesNothing(t *testing.T) {
	s := opened(t, natstest.Start(t, natstest.Options{}).URL(), Options{})
	config := s.log.CachedInfo().Config
	config.MaxBytes = 64 << 10
	if _, err := s.conn.JetStream().UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	saved := 0
	for err := error(nil); err == nil; saved++ {
		if err = s.Append(t.Context(), "one", storetest.Entry(saved)); err != nil && !errors.Is(err, natsclient.ErrFull) {
			t.Fatal(err)
		}
	}
	saved--
	got, err := s.Load(t.Context(), "one")
	if err != nil || len(got) != saved || saved < 10 {
		t.Fatalf("%d entries of %d, %v", len(got), saved, err)
	}
	config.MaxBytes = 1 << 20
	if _, err := s.conn.JetStream().UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "one", storetest.Entry(saved)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestAnEntryOfManyKindsOfBytes: what is stored comes back as it was, whatever headers and JSON
// would make of it.
func TestAnEntryOfManyKindsOfBytes(t *testing.T) {
	s := opened(t, natstest.Start(t, natstest.Options{}).URL(), Options{})
	for n, data := range []string{"{ \"a\" :\r\n \"<&>\u2028\" }", "\"\xff\xfe\"", `"` + strings.Repeat("é", 900) + `"`, " null\n", ""} {
		id := session.ID(data)
		if id == "" {
			id = "empty"
		}
		e := session.Entry{Type: session.StartEntry, Time: storetest.Clock(n), Data: json.RawMessage(data)}
		if err := s.Append(t.Context(), id, e); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(t.Context(), id)
		if err != nil || len(got) != 1 || string(got[0].Data) != data {
			t.Errorf("%q came back as %q, %v", data, got, err)
		}
	}
	if heads, err := s.List(t.Context()); err != nil || len(heads) != 5 {
		t.Errorf("%d heads, %v", len(heads), err)
	}
}
