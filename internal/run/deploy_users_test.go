package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

const password = "adze-of-the-test-"

// deployedServers are real servers with the users of the configuration that is shipped.
func deployedServers(t *testing.T, start func(testing.TB, natstest.Options) *natstest.Cluster) *natstest.Cluster {
	t.Helper()
	conf := readDeployed(t).text["nats.conf"]
	from, to := strings.Index(conf, "authorization {"), strings.Index(conf, "cluster {")
	if from < 0 || to < from {
		t.Fatal("nats.conf has no users")
	}
	return start(t, natstest.Options{Users: conf[from:to], Env: []string{"NATS_OWNER=" + password + "owner", "NATS_SUBMITTER=" + password + "submitter", "NATS_WORKER=" + password + "worker"}})
}

// as is a user of this program who is a user of the servers.
func (u *user) as(name, on string) *user {
	u.t.Helper()
	file := filepath.Join(u.home, "password-"+name)
	if err := os.WriteFile(file, []byte(password+name+"\n"), 0o600); err != nil {
		u.t.Fatal(err)
	}
	other := *u
	other.env = append(slices.Clone(u.env), "ADZE_NATS="+on, "ADZE_NATS_USER="+name, "ADZE_NATS_TOKEN_FILE="+file)
	return &other
}

// TestABatchRunsWithTheUsersThatAreShipped: a submitter submits, looks, stops and tries again, a
// worker does and keeps, and the owner removes; with one server and with three.
func TestABatchRunsWithTheUsersThatAreShipped(t *testing.T) {
	needs(t, "git")
	for name, start := range map[string]func(testing.TB, natstest.Options) *natstest.Cluster{"one": natstest.Start, "three": natstest.StartCluster} {
		t.Run(name, func(t *testing.T) {
			if !effort.Is(effort.Short) && name == "three" {
				t.Skip("-short starts no cluster here")
			}
			u := newUser(t).withName()
			on := deployedServers(t, start).URL()
			repo := u.repository("r")
			submitter, owner := u.as("submitter", on), u.as("owner", on)
			w := u.as("worker", on).works("w", on, t.TempDir())
			until(t, "a worker", func() bool {
				log, _ := os.ReadFile(filepath.Join(u.home, "w.log"))
				return strings.Contains(string(log), "takes tasks from")
			})
			model := u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 90000; echo x >>a.txt\",\"description\":\"count\"}\n-- 2 --\ntext: it is done\n")
			long := strings.Repeat("words of a long task ", 5000)
			u.file("t.jsonl", fmt.Sprintf(`{"id":"model","repo":%[1]q,"prompt":"do it","flags":[%[2]q],"branch":"done/it"}
{"id":"long","repo":%[1]q,"command":"echo x >b.txt","message":%[3]q,"labels":{"queue":"core"}}
{"id":"secret","repo":%[1]q,"command":"printf %%s ghp_16C7e42F292c6912E7710c838347Ae178B4a | wc -c >n.txt"}
{"id":"fails","repo":%[1]q,"command":"exit 3"}
`, repo, model, long))
			submitter.run("batch", "t.jsonl", "--push", "--", "--permission-mode", "yolo").wants(8, "1 of 4 tasks did not succeed")
			for id, r := range u.batchResults(filepath.Join(u.dir, "t.batch")) {
				if len(r) != 1 || r[0].OK == (id == "fails") {
					t.Errorf("%s: %+v", id, r)
				}
			}
			var id string
			for line := range strings.Lines(submitter.run("runs", "list", "--json").wants(0).out) {
				_, id, _ = strings.Cut(line, `"id":"`)
				id, _, _ = strings.Cut(id, `"`)
			}
			submitter.run("runs", "list", id).wants(0, "finished")
			submitter.run("runs", "stats").wants(0)
			submitter.run("runs", "workers").wants(0)
			submitter.run("runs", "limit", "core", "2").wants(0)
			session := u.batchResults(filepath.Join(u.dir, "t.batch"))["model"][0].Session
			submitter.run("session", "show", session, "--store", on).wants(0, "do it")
			submitter.run("runs", "retry", id, "--cause", "tool").wants(0, "1 run waits")
			submitter.run("runs", "follow", id).wants(8)
			_ = w.Process.Kill()
			_ = w.Wait()
			u.file("two.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\"}\n", repo))
			second := strings.TrimSpace(submitter.run("batch", "two.jsonl", "--detach").wants(0).out)
			submitter.run("runs", "cancel", second).wants(0, "1 run is cancelled")
			submitter.run("runs", "list", second).wants(0, "cancelled")
			owner.run("runs", "delete", id, second, "--yes").wants(0, "removed batch "+id, "removed batch "+second)
			owner.run("runs", "list").wants(0, "no batch was submitted")
		})
	}
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestUsersWriteOnlyWhatIsTheirs, by the server's word: a submitter nothing that only workers
// write, a worker nothing that only submitters do, and neither deletes or changes a stream.
func TestUsersWriteOnlyWhatIsTheirs(t *testing.T) {
	u := newUser(t)
	on := deployedServers(t, natstest.Start).URL()
	u.as("owner", on).run("runs", "stats").wants(0) // the streams are made
	streams := []string{"ADZE_TASK", "ADZE_DEAD", "ADZE_LOG", "KV_ADZE_RUN", "KV_ADZE_BODY", "KV_ADZE_CANCEL", "KV_ADZE_PAUSE", "KV_ADZE_LEASE", "OBJ_ADZE_BLOB", "OBJ_ADZE_INPUT"}
	worker := []string{"$KV.ADZE_RUN.run.b.x", "$KV.ADZE_RUN.purse.b", "$KV.ADZE_LEASE.x", "$KV.ADZE_PAUSE.x", "$KV.ADZE_GONE.x", "adze.log.x", "adze.dead.x", "$O.ADZE_BLOB.C.x", "$O.ADZE_BLOB.M.x",
		"adze.task.default.q2.b_x", "$KV.ADZE_WORKER.x", "$JS.ACK.ADZE_TASK.default-p2.1.1.1.1.0", "$JS.API.CONSUMER.MSG.NEXT.ADZE_TASK.default-p2", "$JS.API.CONSUMER.DELETE.ADZE_TASK.default-p2", "$JS.API.STREAM.MSG.GET.KV_ADZE_BODY",
		"$JS.API.CONSUMER.CREATE.KV_ADZE_BODY.x.y", "$JS.API.STREAM.PURGE.ADZE_LOG", "$JS.API.STREAM.PURGE.KV_ADZE_RUN", "$JS.API.STREAM.PURGE.OBJ_ADZE_BLOB", "$JS.API.STREAM.CREATE.ADZE_TASK"}
	submitter := []string{"adze.task.default.p2.b_x", "$KV.ADZE_RUN.ask.b.x", "$KV.ADZE_RUN.batch.b", "$KV.ADZE_BODY.b.x", "$KV.ADZE_CANCEL.b.x", "$O.ADZE_INPUT.C.x", "$O.ADZE_INPUT.M.x"}
	var nobody []string
	for _, s := range streams {
		for _, verb := range []string{"DELETE", "UPDATE", "MSG.DELETE", "RESTORE", "SNAPSHOT"} {
			nobody = append(nobody, "$JS.API.STREAM."+verb+"."+s)
		}
	}
	nobody = append(nobody, "$JS.API.STREAM.CREATE.OTHER", "other")
	for name, c := range map[string]struct{ may, mayNot []string }{"submitter": {submitter, slices.Concat(worker, nobody)}, "worker": {worker, slices.Concat(submitter, nobody)}} {
		nc, err := nats.Connect(on, nats.UserInfo(name, password+name), nats.CustomInboxPrefix("_INBOX."+name), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		refused := func(subject string) bool {
			t.Helper()
			if err := nc.Flush(); err != nil { // the answer comes behind the refusal
				t.Fatal(err)
			}
			err := nc.LastError()
			return err != nil && strings.Contains(err.Error(), `"`+subject+`"`)
		}
		try := func(subject string) bool {
			t.Helper()
			if err := nc.Publish(subject, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			return !refused(subject)
		}
		for _, subject := range c.mayNot {
			if try(subject) {
				t.Errorf("the %s may publish %s", name, subject)
			}
		}
		for _, subject := range c.may {
			if !try(subject) {
				t.Errorf("the %s may not publish %s", name, subject)
			}
		}
		if _, err := nc.Subscribe("_INBOX.other.>", func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		if !refused("_INBOX.other.>") {
			t.Errorf("the %s may listen to answers of others", name)
		}
	}
}

// TestWhoMayNotIsTold what they may not do, and never that no server answers.
func TestWhoMayNotIsTold(t *testing.T) {
	effort.Needs(t, effort.Short, "it runs many commands against a server")
	u := newUser(t).withName()
	on := deployedServers(t, natstest.Start).URL()
	repo := u.repository("r")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\"}\n", repo))
	u.as("submitter", on).run("batch", "t.jsonl", "--detach").wants(10, "does not let its user do this") // nobody made the streams yet
	u.as("owner", on).run("-p", "--store", on, "--session-id", "one", u.script("-- 1 --\ntext: hi\n"), "hello").wants(0)
	id := strings.TrimSpace(u.as("owner", on).run("batch", "t.jsonl", "--detach").wants(0).out)
	u.as("owner", on).run("runs", "cancel", id).wants(0)
	u.as("worker", on).run("batch", "t.jsonl", "--detach", "--out", "other").wants(10, "does not let its user do this")
	u.as("submitter", on).run("runs", "delete", id, "--yes").wants(10, "does not let its user do this")
	if r := u.as("submitter", on).run("session", "delete", "one", "--store", on, "--yes"); r.code == 0 || !strings.Contains(r.err, "does not let its user do this") {
		t.Errorf("%d: %s", r.code, r.err)
	}
	u.as("owner", on).run("session", "delete", "one", "--store", on, "--yes").wants(0)
	wrong := u.as("worker", on)
	wrong.env = append(wrong.env, "ADZE_NATS_USER=owner")
	wrong.run("runs", "list").wants(2, "lets nobody in with the user owner")
}
