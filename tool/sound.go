package tool

import "fmt"

// sound runs code that an author or a library brings. What panics has failed, and takes nothing else with it.
func sound[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed inside: %.200v", p)
		}
	}()
	return f()
}
