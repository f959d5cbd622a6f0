package undo

import (
	"errors"
	"path"
)

// place restores a path: it creates a folder, or makes a file or link beside it and swaps it in
// atomically.
func place(s spot) error {
	if s.To.Kind == Folder {
		return s.makeFolder()
	}
	if err := s.cleanUp(); err != nil {
		return err
	}
	now, err := s.reread(s.name)
	if err != nil {
		return err
	}
	if s.From.Kind == Folder && now.Kind == Folder {
		s.w.moment()
		if err := s.folder.removeFolder(s.name); err != nil {
			return errors.New(refusedNotEmpty)
		}
		now = Entry{}
	}
	switch {
	case now.equal(s.To):
		return nil
	case !now.equal(s.From) && !(now.Kind == Absent && s.From.Kind == Folder):
		return errChanged
	}
	s.w.moment()
	if err := s.make(); err != nil {
		return errors.Join(err, s.dropTemp())
	}
	s.w.moment()
	if now.Kind == Absent {
		if err := s.folder.move(s.temp, s.name); err != nil {
			return errors.Join(errChanged, s.dropTemp())
		}
		return nil
	}
	return s.swap()
}

func (s spot) makeFolder() error {
	now, err := s.reread(s.name)
	switch {
	case err != nil:
		return err
	case now.Kind == Folder:
		return nil
	case now.Kind != Absent:
		return errChanged
	}
	s.w.moment()
	return s.folder.makeFolder(s.name)
}

// swap puts the new entry into its place and checks the one it replaced. An unexpected one goes
// back.
func (s spot) swap() error {
	if err := s.folder.exchange(s.temp, s.name, s.w.moment); err != nil {
		return errors.Join(err, s.dropTemp())
	}
	s.w.moment()
	out, err := s.reread(s.temp)
	if err == nil && (out.equal(s.From) || out.equal(s.To)) {
		return s.folder.remove(s.temp)
	}
	return s.swapBack()
}

func (s spot) swapBack() error {
	if err := s.folder.exchange(s.temp, s.name, s.w.moment); err != nil {
		return errors.New(refusedChanged + "; what stood there is now " + path.Join(parentOf(s.Path), s.temp))
	}
	return errors.Join(errChanged, s.dropTemp())
}

// dropTemp removes a temporary entry that was not swapped in.
func (s spot) dropTemp() error {
	out, err := s.reread(s.temp)
	if err != nil || out.Kind == Absent {
		return err
	}
	if unfinished := out.Kind == File && s.To.Kind == File && out.Mode == 0o600; !unfinished && !out.equal(s.To) {
		return errors.New(path.Join(parentOf(s.Path), s.temp) + " is left behind")
	}
	return s.folder.remove(s.temp)
}

// cleanUp resolves the temporary entry of a killed process.
func (s spot) cleanUp() error {
	if err := s.folder.endExchange(s.temp, s.name); err != nil {
		return errors.New(refusedChanged + "; what stood there is beside it, under a name that begins with " + s.temp)
	}
	temp, err := s.reread(s.temp)
	if err != nil || temp.Kind == Absent {
		return err
	}
	now, err := s.reread(s.name)
	switch {
	case err != nil:
		return err
	case temp.equal(s.From), temp.equal(s.To):
		return s.folder.remove(s.temp)
	case now.equal(s.To) && s.From.leaf():
		return s.swapBack() // swapped out but not checked: somebody else's
	case now.equal(s.From), now.Kind == Absent && !s.From.leaf():
		return s.folder.remove(s.temp) // incomplete
	}
	return errors.New(refusedChanged + "; " + path.Join(parentOf(s.Path), s.temp) + " is left behind")
}

// make creates the restored entry under the temporary name.
func (s spot) make() error {
	if s.To.Kind == Symlink {
		return s.folder.symlink(s.To.Target, s.temp)
	}
	content, err := s.w.store.Get(s.To.Hash)
	if err != nil {
		return err
	}
	return s.butOwner(s.folder.writeFile(s.temp, content, s.To.Mode, s.To.Attrs))
}
