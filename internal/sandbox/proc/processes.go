package proc

import "time"

// Info is one process as Processes lists it.
type Info struct {
	PID     int
	Parent  int
	State   string        // one letter: R running, S sleeping, D in the kernel, T stopped, Z dead
	CPU     time.Duration // processor time used; 0 where it is not known
	Memory  int64         // resident bytes
	Command string        // arguments joined by blanks, or the name in brackets
}

// Below returns the processes of list that are root or below it, in the order of list.
func Below(list []Info, root int) []Info {
	inside := map[int]bool{root: true}
	// A child may stand before its parent, because ids are reused: repeat until nothing is added.
	for grown := true; grown; {
		grown = false
		for _, p := range list {
			if inside[p.Parent] && !inside[p.PID] {
				inside[p.PID], grown = true, true
			}
		}
	}
	var out []Info
	for _, p := range list {
		if inside[p.PID] {
			out = append(out, p)
		}
	}
	return out
}
