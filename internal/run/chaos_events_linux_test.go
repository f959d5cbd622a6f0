package run_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// printedEvent is what these tests read of a line of adze.stream/1: a message of the model, or the
// end of a call. Both are printed when they are stored.
type printedEvent struct {
	Type    string
	Session string
	Call    string
	Status  string
	Message json.RawMessage
}

// printed are the events that the adzes of tasks printed, by session. The last line of one that was
// killed may be cut.
func (c *chaos) printed() map[string][]printedEvent {
	out := map[string][]printedEvent{}
	found, _ := filepath.Glob(filepath.Join(c.said, "*.jsonl"))
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		in := ""
		for lines := bufio.NewReader(bytes.NewReader(raw)); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var e printedEvent
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			switch e.Type {
			case "init":
				in = e.Session
			case "message", "tool_end":
				out[in] = append(out[in], e)
			}
		}
	}
	return out
}

// exported are the sessions of all runs as they are in the stream, four at a time.
func (c *chaos) exported(runs map[string][]chaosRun) map[string][]byte {
	out := map[string][]byte{}
	var mu sync.Mutex
	var all sync.WaitGroup
	free := make(chan struct{}, 4)
	for _, of := range runs {
		for _, r := range of {
			all.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				got := c.run("session", "export", r.Session, "--store", c.servers.URL(), "--format", "json")
				mu.Lock()
				defer mu.Unlock()
				if out[r.Session] = []byte(got.out); got.code != 0 {
					c.t.Errorf("%s could not be exported: %s", r.Session, got.err)
				}
			})
		}
	}
	all.Wait()
	return out
}

// acknowledged looks for each printed event in the stream, and says how many there were. Scripts
// begin anew, so that ids of calls come again: as many ends as were printed must be there.
func (c *chaos) acknowledged(session string, kept []byte, events []printedEvent) int {
	var log struct {
		Messages []struct {
			ID    string
			Parts []struct{ Call *struct{ ID, Status string } }
		}
	}
	if err := json.Unmarshal(kept, &log); err != nil {
		c.t.Errorf("%s: %v", session, err)
	}
	there := map[string]int{}
	for _, m := range log.Messages {
		there[m.ID]++
		for _, p := range m.Parts {
			if p.Call != nil {
				there[p.Call.ID+" "+p.Call.Status]++
			}
		}
	}
	for _, e := range events {
		key := e.Call + " " + e.Status
		if e.Type == "message" {
			var m struct{ ID string }
			_ = json.Unmarshal(e.Message, &m)
			key = m.ID
		}
		if there[key]--; there[key] < 0 {
			c.t.Errorf("%s: %s %s was printed and is not in the stream", session, e.Type, key)
		}
	}
	return len(events)
}
