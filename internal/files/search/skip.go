package search

import (
	"cmp"
	"context"

	"adze/internal/files/search/match"
	"adze/internal/files/search/sign"
)

// skips reports that signatures tell of a file what reading it would: that it is no text, or holds
// no match.
func (s *seeker) skips(d *dir, e entry) bool {
	s.mark = 0
	if s.known.rejects == nil {
		return false
	}
	if mark := d.marks.of(e); s.known.rejects.Read(mark) {
		s.mark = mark
		return false // to ask would be in vain, as far as one can tell
	}
	st, ok := s.asked.state(d.at, e.name)
	if !ok || s.q.Multiline && st.Size > match.MaxMultiline {
		return false
	}
	answer, mark := s.known.rejects.Ask(st)
	d.marks.set(e, mark)
	switch answer {
	case sign.Empty:
		s.r.Searched++
		return true
	case sign.Binary:
		s.r.Binary.add(d.path + e.name)
		return true
	case sign.Read:
		s.mark = mark
	case sign.Unknown:
		if st.Settled(s.known.now) {
			s.unknown++
		}
	}
	return false
}

// run searches the file that is open: all of it, or where it is in a state that signatures know,
// the parts that may hold a match. Should it change meanwhile, all of it is searched after all.
func (s *seeker) run(ctx context.Context, keep int) (match.Found, error) {
	s.file.left, s.file.cut = cmp.Or(s.tree.FileBytes, MaxFile), false
	state, ok := s.cut()
	if !ok {
		return s.scan.Run(ctx, &s.file, keep)
	}
	found, err := s.scan.RunParts(ctx, &s.file, s.parts, keep)
	if now, ok := s.file.state(); err != nil || ok && now == state {
		return found, err
	}
	return s.scan.Run(ctx, &s.file, keep) // nothing has moved its place for reading
}

// cut finds out which parts of the file have to be read, and in which state it is.
func (s *seeker) cut() (sign.State, bool) {
	if s.mark == 0 || s.q.Multiline || s.q.Before+s.q.After > 0 || !s.known.rejects.Long(s.mark) {
		return sign.State{}, false
	}
	state, ok := s.file.state()
	if !ok {
		return state, false
	}
	s.parts = s.parts[:0]
	for _, p := range s.known.rejects.Parts(state) {
		s.parts = append(s.parts, match.Part(p))
	}
	return state, len(s.parts) > 0
}
