package batch

// Observer sees what tasks do, for operators. It is called from any goroutine.
type Observer interface {
	// Task says that a task begins here. Its adze gets env; over is called once, with the cause of
	// its result, or with none when it has no result yet.
	Task() (env []string, over func(ok bool, cause string))
	// Wants says by its beginning whether it is told of a line that an adze prints, and Line tells
	// it.
	Wants(start []byte) bool
	Line(line []byte)
}

// begin tells the observer of a task.
func (b *Batch) begin(t Task) (over func(Result, error)) {
	if b.Observer == nil {
		return func(Result, error) {}
	}
	env, ended := b.Observer.Task()
	dir := b.clone(t)
	b.traced.Store(dir, env)
	return func(r Result, err error) {
		b.traced.Delete(dir)
		if err != nil {
			r.OK, r.Cause = false, ""
		}
		ended(r.OK, r.Cause)
	}
}

// environ is the environment of an adze in a folder.
// UndoOff is the variable by which the adze of a task keeps no states of its files: the clone comes
// from a commit, and its patch is the way back.
const UndoOff = "ADZE_UNDO=off"

func (b *Batch) environ(dir string) []string {
	env := append(b.Env[:len(b.Env):len(b.Env)], b.Keys...)
	if more, ok := b.traced.Load(dir); ok {
		env = append(env, more.([]string)...)
	}
	return append(env, "PWD="+dir, UndoOff)
}

// heard has the observer hear lines, too.
func (b *Batch) heard(wanted func([]byte) bool, line func([]byte)) (func([]byte) bool, func([]byte)) {
	if b.Observer == nil {
		return wanted, line
	}
	return func(start []byte) bool { return wanted(start) || b.Observer.Wants(start) }, func(l []byte) {
		if b.Observer.Wants(l) {
			b.Observer.Line(l)
		}
		if wanted(l) {
			line(l)
		}
	}
}
