package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
			u.file("t.jsonl", fmt.Sprintf(`{"id":"model","repo":%[1]q,"prompt":"do it","flags":[%[2]q],"branch":"done/it"}
{"id":"long","repo":%[1]q,"command":"echo x >b.txt","message":%[3]q,"labels":{"queue":"core"}}
{"id":"fails","repo":%[1]q,"command":"exit 3"}
`, repo, model, strings.Repeat("words of a long task ", 5000)))
			submitter.run("batch", "t.jsonl", "--push", "--", "--permission-mode", "yolo").wants(8, "1 of 3 tasks did not succeed")
			for id, r := range u.batchResults(filepath.Join(u.dir, "t.batch")) {
				if len(r) != 1 || r[0].OK == (id == "fails") {
					t.Errorf("%s: %+v", id, r)
				}
			}
			id := strings.Fields(strings.Split(submitter.run("batch", "list").wants(0).out, "\n")[1])[0]
			submitter.run("batch", "list", id).wants(0, "done", "tool")
			submitter.run("batch", "workers").wants(0, "w ")
			submitter.run("batch", "show", id, "model", "--patch").wants(0, "+x")
			submitter.run("batch", "show", id, "model", "--session").wants(0, "do it")
			submitter.run("batch", "t.jsonl", "--push", "--retry", "tool", "--", "--permission-mode", "yolo").wants(8)
			_ = w.Process.Kill()
			_ = w.Wait()
			u.file("two.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\"}\n", repo))
			second := strings.TrimSpace(submitter.run("batch", "two.jsonl", "--detach").wants(0).out)
			submitter.run("batch", "cancel", second).wants(0, "is cancelled")
			owner.run("batch", "delete", id).wants(0, "is removed")
			owner.run("batch", "delete", second).wants(2, "wait or run")
		})
	}
}

// TestUsersWriteOnlyWhatIsTheirs, by the server's word: a submitter nothing that only workers
// write, a worker nothing that only submitters do, and neither deletes or changes a stream.
func TestUsersWriteOnlyWhatIsTheirs(t *testing.T) {
	u := newUser(t)
	on := deployedServers(t, natstest.Start).URL()
	u.as("owner", on).run("batch", "list").wants(0) // the streams are made
	streams := []string{"ADZE_TASKS", "ADZE_DEAD", "KV_ADZE_BATCHES", "KV_ADZE_RESULTS", "KV_ADZE_CANCEL", "KV_ADZE_WORKERS", "OBJ_ADZE_FILES"}
	worker := []string{"$KV.ADZE_RESULTS.b.x", "$KV.ADZE_WORKERS.x", "adze.dead.x", "adze.lines.x.y", "$O.ADZE_FILES.C.x", "$O.ADZE_FILES.M.x", "$JS.ACK.ADZE_TASKS.c.1.1.1.1.0",
		"$JS.API.CONSUMER.MSG.NEXT.ADZE_TASKS.c", "$JS.API.STREAM.PURGE.OBJ_ADZE_FILES", "$JS.API.STREAM.CREATE.ADZE_TASKS"}
	submitter := []string{"adze.tasks.2.default.b.x", "$KV.ADZE_BATCHES.b", "$KV.ADZE_CANCEL.b", "$JS.API.CONSUMER.CREATE.ADZE_TASKS.c.adze.tasks.2.default.b.x"}
	var nobody []string
	for _, s := range streams {
		for _, verb := range []string{"DELETE", "UPDATE", "MSG.DELETE", "RESTORE", "SNAPSHOT"} {
			nobody = append(nobody, "$JS.API.STREAM."+verb+"."+s)
		}
	}
	nobody = append(nobody, "$JS.API.STREAM.CREATE.OTHER", "other", "$JS.API.STREAM.MSG.GET.ADZE_TASKS", "$JS.API.DIRECT.GET.ADZE_TASKS.x", "$JS.API.CONSUMER.DELETE.ADZE_TASKS.c", "$JS.API.STREAM.PURGE.ADZE_TASKS")
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
	u.as("owner", on).run("batch", "list").wants(0)
	u.as("worker", on).run("batch", "t.jsonl", "--detach", "--out", "other").wants(10, "does not let its user do this")
	id := strings.TrimSpace(u.as("submitter", on).run("batch", "t.jsonl", "--detach").wants(0).out)
	u.as("worker", on).run("batch", "cancel", id).wants(10, "does not let its user do this")
	wrong := u.as("worker", on)
	wrong.env = append(wrong.env, "ADZE_NATS_USER=owner")
	wrong.run("batch", "list").wants(2, "lets nobody in with the user owner")
}
