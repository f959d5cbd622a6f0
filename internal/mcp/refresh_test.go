package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// scripted is a server in this process, whose every answer the test gives. It is used in a bubble
// of synctest: after settle all that adze does of itself is done.
type scripted struct {
	t    *testing.T
	pool *Pool
	out  io.Writer
	open []question // questions without an answer, the oldest first
	in   chan question
}

type question struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// script wakes a server; modern is its era.
func script(t *testing.T, modern bool) *scripted {
	t.Helper()
	s := &scripted{t: t, in: make(chan question, 1000)}
	s.pool = New(Options{Version: "test", Servers: []Server{{Name: "fake", URL: "http://fake", Start: time.Hour}}, HTTP: s.dial, Probe: time.Hour, Idle: time.Hour})
	t.Cleanup(s.pool.Close)
	s.pool.Wake("fake")
	s.settle()
	const lists = `"capabilities":{"tools":{"listChanged":true}}`
	if modern {
		s.answer("server/discover", `{"resultType":"complete","supportedVersions":["2026-07-28"],`+lists+`}`)
		return s
	}
	if q := s.next("server/discover"); q != nil {
		s.say(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32601,"message":"Method not found"}}`)
	}
	s.answer("initialize", `{"protocolVersion":"2025-11-25",`+lists+`,"serverInfo":{"name":"fake","version":"1"}}`)
	return s
}

func (s *scripted) dial(ctx context.Context, _ Server, use func(sdk.Transport)) error {
	ours, theirs := io.Pipe()
	theirIn, ourOut := io.Pipe()
	s.out = ourOut
	go func() {
		lines := bufio.NewScanner(ours)
		for lines.Scan() {
			var m question
			if json.Unmarshal(lines.Bytes(), &m) == nil && len(m.ID) > 0 && m.Method != "" {
				s.in <- m
			}
		}
	}()
	use(&sdk.IOTransport{Reader: theirIn, Writer: theirs})
	_, _, _, _ = ours.Close(), theirs.Close(), theirIn.Close(), ourOut.Close()
	return nil
}

// settle waits until nothing happens any more, and collects what was asked.
func (s *scripted) settle() {
	time.Sleep(listEvery)
	synctest.Wait()
	for len(s.in) > 0 {
		s.open = append(s.open, <-s.in)
	}
}

func (s *scripted) say(text string) {
	_, _ = io.WriteString(s.out, text+"\n")
	s.settle()
}

// next takes the oldest question of a method out; if nil, there is none.
func (s *scripted) next(method string) *question {
	s.settle()
	i := slices.IndexFunc(s.open, func(m question) bool { return m.Method == method })
	if i < 0 {
		return nil
	}
	m := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	return &m
}

func (s *scripted) answer(method, result string) {
	s.t.Helper()
	q := s.next(method)
	if q == nil {
		s.t.Fatalf("it does not ask for %s; open are %+v", method, s.open)
	}
	s.reply(q, result)
}

func (s *scripted) reply(q *question, result string) {
	s.say(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + result + `}`)
}

func (s *scripted) tell() {
	s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

// tools is a list of one tool; a server may say that it is good for long.
func tools(name string, more ...string) string {
	return `{"resultType":"complete","ttlMs":3600000,"cacheScope":"private","tools":[{"name":"` + name + `","inputSchema":{"type":"object"}}]` + strings.Join(more, "") + `}`
}

// wants checks what is known of the server, and that nothing more is asked.
func (s *scripted) wants(name string) {
	s.t.Helper()
	s.settle()
	v := s.pool.servers["fake"]
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current == nil || len(v.current.Tools) != 1 || v.current.Tools[0].Name != name {
		s.t.Errorf("it says %+v and not %s", v.current, name)
	}
	if q := slices.IndexFunc(s.open, func(m question) bool { return m.Method == "tools/list" }); q >= 0 {
		s.t.Errorf("it asks once more")
	}
}

// TestNoChangeIsLost: whenever a server tells of a change, what was asked for behind its word
// counts in the end.
func TestNoChangeIsLost(t *testing.T) {
	for name, c := range map[string]func(s *scripted){
		"while it is first listed": func(s *scripted) {
			s.tell()
			s.answer("tools/list", tools("one"))
			s.answer("tools/list", tools("two"))
		},
		"later": func(s *scripted) {
			s.answer("tools/list", tools("one"))
			s.tell()
			s.answer("tools/list", tools("two"))
		},
		"twice in a row, and the first answer comes last": func(s *scripted) {
			s.answer("tools/list", tools("zero"))
			s.tell()
			first := s.next("tools/list")
			s.tell()
			if q := s.next("tools/list"); q != nil { // nobody may ask so; who does gets the answers in this order
				s.reply(q, tools("two"))
				s.reply(first, tools("one"))
				return
			}
			s.reply(first, tools("one"))
			s.answer("tools/list", tools("two"))
		},
		"many times while it is listed": func(s *scripted) {
			s.answer("tools/list", tools("zero"))
			for range 50 {
				s.tell()
			}
			s.answer("tools/list", tools("one"))
			s.answer("tools/list", tools("two"))
		},
		"between two pages": func(s *scripted) {
			s.answer("tools/list", tools("zero", `,"nextCursor":"2"`))
			s.tell()
			s.answer("tools/list", tools("one"))
			s.answer("tools/list", tools("two"))
		},
		"and fails to list once": func(s *scripted) {
			s.answer("tools/list", tools("one"))
			s.tell()
			q := s.next("tools/list")
			s.say(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32603,"message":"try again"}}`)
			s.answer("tools/list", tools("two"))
		},
	} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := script(t, modern)
					c(s)
					s.wants("two")
				})
			})
		}
	}
}

// TestASubscriptionThatComesLate: what changed before the server took it, it does not tell.
func TestASubscriptionThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script(t, true)
		listen := s.next("subscriptions/listen")
		if listen == nil {
			t.Fatalf("%+v", s.open)
		}
		s.answer("tools/list", tools("one"))
		s.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(listen.ID) + `}}}`)
		s.answer("tools/list", tools("two"))
		s.wants("two")
	})
}

func TestASubscriptionCountsAsAChangeOfWhatItIsOf(t *testing.T) {
	var told []string
	o := &sdk.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { told = append(told, "tools") },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { told = append(told, "prompts") },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { told = append(told, "resources") },
	}
	subscribed(t.Context(), o, sdk.NotificationSubscriptions{PromptsListChanged: true, ResourcesListChanged: true})
	subscribed(t.Context(), o, sdk.NotificationSubscriptions{ToolsListChanged: true})
	subscribed(t.Context(), &sdk.ClientOptions{}, sdk.NotificationSubscriptions{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true})
	if !slices.Equal(told, []string{"prompts", "resources", "tools"}) {
		t.Errorf("%v", told)
	}
}

// TestAListOfALifeBefore: an answer that comes when the server was started anew does not count.
func TestAListOfALifeBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script(t, false)
		s.answer("tools/list", tools("two"))
		v := s.pool.servers["fake"]
		old := v.connection
		v.mu.Lock()
		v.connection = &connection{server: v, end: func() {}}
		v.mu.Unlock()
		old.mutate(func() {
			old.update(&Catalogue{Tools: []Tool{{Name: "one"}}})
		})
		v.mu.Lock()
		v.connection = old
		v.mu.Unlock()
		s.wants("two")
	})
}

// TestAServerThatTellsWithoutEndIsAskedSlowly: it costs one question a second.
func TestAServerThatTellsWithoutEndIsAskedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script(t, false)
		s.answer("tools/list", tools("one"))
		s.tell()
		q := s.next("tools/list")
		began := time.Now()
		_, _ = io.WriteString(s.out, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":`+tools("one")+"}\n"+`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n")
		<-s.in
		if time.Since(began) < listEvery {
			t.Error("it is asked at once")
		}
	})
}
