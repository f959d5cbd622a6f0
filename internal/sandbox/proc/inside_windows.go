package proc

import "os"

// Inside explains why this process counts as one that a command of adze started; it returns ""
// where it is none. A process is known by its environment alone.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return ""
}

// Below knows nothing of other processes here.
func (l *Ledger) Below(int) string { return "" }
