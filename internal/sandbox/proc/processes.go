package proc

import "time"

// Info is one process listed by Processes.
type Info struct {
	PID     int
	Parent  int
	State   string        // one letter: R running, S sleeping, D in the kernel, T stopped, Z dead
	CPU     time.Duration // processor time; 0 if unknown
	Memory  int64         // resident bytes
	Command string        // arguments joined by blanks, or the name in brackets
}

// Descendants returns root and its descendants in list, in the order of list.
func Descendants(list []Info, root int) []Info {
	inside := map[int]bool{root: true}
	// A child may come before its parent, because ids are reused: repeat until nothing is added.
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
