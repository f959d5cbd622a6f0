//go:build unix && !linux

package proc

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

const listTime = 5 * time.Second

// Processes lists this user's processes by id, from ps, without processor time.
func Processes() ([]Info, error) {
	r, err := Supervisor{}.Run(context.Background(), Command{
		Argv: []string{"ps", "-U", strconv.Itoa(os.Getuid()), "-o", "pid=,ppid=,stat=,rss=,command="},
		Dir:  "/", Env: []string{"PATH=/bin:/usr/bin"}, Timeout: listTime, Head: 1 << 20, Tail: 1,
	})
	if err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var list []Info
	for line := range strings.Lines(r.Output.Head) {
		if info, ok := parsePS(line); ok {
			list = append(list, info)
		}
	}
	return list, nil
}

func parsePS(line string) (Info, bool) {
	f := strings.Fields(line)
	if len(f) < 5 {
		return Info{}, false
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil {
		return Info{}, false
	}
	parent, _ := strconv.Atoi(f[1])
	kib, _ := strconv.ParseInt(f[3], 10, 64)
	return Info{PID: pid, Parent: parent, State: f[2][:1], Memory: kib << 10, Command: strings.Join(f[4:], " ")}, true
}
