package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// site is a server in Python at an address, which says so.
const site = `import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"from the job")
    def log_message(self, *a): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
`

// session is a sandbox with jobs.
type session struct {
	*bench
	jobs  *proc.Jobs
	leave *leave
}

func newSession(t *testing.T) *session {
	b := newBench(t, sandbox.Namespaces)
	b.write("work/site.py", site)
	s := &session{b, proc.NewJobs(proc.Supervisor{Cage: b.box}), new(leave)}
	t.Cleanup(s.jobs.Close)
	return s
}

func (s *session) command(script string) proc.Command {
	return proc.Command{Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: s.work, Env: s.env(), Local: s.leave.local}
}

// serving starts a job and waits until it serves.
func (s *session) serving(script string, ports int) proc.JobStatus {
	s.t.Helper()
	started, err := s.jobs.Start("a server", s.command(script))
	if err != nil {
		s.t.Fatal(err)
	}
	return s.served(started.ID, ports)
}

// served waits until a job serves.
func (s *session) served(id string, ports int) proc.JobStatus {
	s.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Millisecond)
		j, err := s.jobs.Wait(ctx, id)
		cancel()
		if err != nil || !j.Running {
			s.t.Fatalf("%v %+v", err, j.Result)
		}
		if len(j.Serves) == ports {
			return j
		}
	}
}

// browse is the user's browser.
func browse(url string) string {
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// What a job serves is reached by the next command and by the user's browser, is named in its row,
// and ends with the job; nobody is asked.
func TestWhatAJobServesIsReached(t *testing.T) {
	need(t, "python3", "curl")
	s := newSession(t)
	for _, address := range []string{"127.0.0.1", "0.0.0.0", "::", "::1"} {
		port := freePort(t)
		at := fmt.Sprintf("localhost:%d", port)
		job := s.serving(fmt.Sprintf("exec python3 site.py %s %d", address, port), 1)
		if strings.Join(job.Serves, " ") != at {
			t.Errorf("%s: %q", address, job.Serves)
		}
		if got := browse("http://" + at); got != "from the job" {
			t.Errorf("%s: the browser sees %q", address, got)
		}
		r, err := proc.Supervisor{Cage: s.box}.Run(t.Context(), s.command("for i in 1 2 3; do curl -sS --noproxy '*' http://"+at+"; done"))
		if err != nil || text(r) != "from the jobfrom the jobfrom the job" || len(r.Denied) > 0 {
			t.Errorf("%s: %v %s %+v", address, err, text(r), r.Findings)
		}
		if _, err := s.jobs.Kill(job.ID); err != nil {
			t.Fatal(err)
		}
		if got := browse("http://" + at); !strings.Contains(got, "refused") {
			t.Errorf("%s: after its end the browser sees %q", address, got)
		}
		if r, err := (proc.Supervisor{Cage: s.box}).Run(t.Context(), s.command("curl -sS --noproxy '*' http://"+at)); err != nil || r.Err() == nil || len(r.Refused) > 0 {
			t.Errorf("%s: after its end %v %s %+v", address, err, text(r), r.Findings)
		}
	}
	if len(s.leave.places) > 0 {
		t.Errorf("asked about %q", s.leave.places)
	}
}

// Where a port is taken, by the user or by another job, the user finds another one, which is named;
// commands reach the job under its own number.
func TestATakenPortOfAJobIsAnotherOutside(t *testing.T) {
	need(t, "python3", "curl")
	s := newSession(t)
	l, err := net.Listen("tcp", ":0")
	own := echo(t, l, err)
	port := own.Addr().(*net.TCPAddr).Port
	job := s.serving(fmt.Sprintf("exec python3 site.py 127.0.0.1 %d", port), 1)
	_, outside, found := strings.Cut(strings.TrimSuffix(job.Serves[0], ")"), fmt.Sprintf("localhost:%d (outside of the sandbox ", port))
	if !found || browse("http://"+outside) != "from the job" {
		t.Errorf("%q: %s", job.Serves, browse("http://"+outside))
	}
	r, err := proc.Supervisor{Cage: s.box}.Run(t.Context(), s.command(fmt.Sprintf("curl -sS --noproxy '*' http://localhost:%d", port)))
	if err != nil || text(r) != "from the job" || len(s.leave.places) > 0 {
		t.Errorf("%v %s, asked about %q", err, text(r), s.leave.places)
	}
}

// A command that only ends is on nobody's localhost; other sessions and other programs' sockets
// stay apart, and a server that came back after a reload is the same.
func TestOnlyJobsServeTheUser(t *testing.T) {
	need(t, "python3", "curl")
	s := newSession(t)
	port := freePort(t)
	script := fmt.Sprintf(`python3 site.py 127.0.0.1 %d & until curl -sS --noproxy '*' http://localhost:%d 2>/dev/null; do sleep 0.05; done; touch up; until [ -e seen ]; do sleep 0.05; done; kill %%1`, port, port)
	ended := make(chan proc.Result, 1)
	go func() {
		r, _ := proc.Supervisor{Cage: s.box}.Run(t.Context(), s.command(script))
		ended <- r
	}()
	for !there(s.work + "/up") {
		runtime.Gosched()
	}
	if got := browse(fmt.Sprintf("http://localhost:%d", port)); !strings.Contains(got, "refused") {
		t.Errorf("the browser sees %q of a command that is waited for", got)
	}
	s.write("work/seen", "")
	if r := <-ended; text(r) != "from the job" {
		t.Errorf("%s", text(r))
	}
	job := s.serving(fmt.Sprintf("python3 site.py 127.0.0.1 %d & one=$!; until [ -e reload ]; do sleep 0.05; done; kill $one; wait; touch down; exec python3 site.py 127.0.0.1 %d", port, port), 1)
	s.write("work/reload", "")
	for !there(s.work+"/down") || browse(fmt.Sprintf("http://localhost:%d", port)) != "from the job" {
		runtime.Gosched()
	}
	another := s.sandbox(sandbox.Namespaces)
	r, err := proc.Supervisor{Cage: another}.Run(context.Background(), s.command(fmt.Sprintf("curl -sS --noproxy '*' http://localhost:%d", port)))
	if err != nil || r.Err() == nil || strings.Join(s.leave.places, " ") != fmt.Sprintf("tcp://localhost:%d", port) {
		t.Errorf("another session: %v %s, asked about %q of %s", err, text(r), s.leave.places, job.ID)
	}
}

// A command whose time is over goes on as a job, and serves the user from then on.
func TestACommandThatGoesOnServesTheUser(t *testing.T) {
	need(t, "python3")
	s := newSession(t)
	port := freePort(t)
	c := s.command(fmt.Sprintf("exec python3 site.py 127.0.0.1 %d", port))
	c.Timeout = 300 * time.Millisecond
	_, late, err := s.jobs.Run(t.Context(), "a server", c, nil)
	if err != nil || late == nil {
		t.Fatal(err, late)
	}
	job := s.served(late.Job.ID, 1)
	if got := browse("http://" + job.Serves[0]); got != "from the job" {
		t.Errorf("%q: %s", job.Serves, got)
	}
}

func TestJobsOfAnOrdinaryUserServe(t *testing.T) {
	asOrdinaryUser(t, "TestWhatAJobServesIsReached")
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
