// Package sorting sorts slices of structs with one sort for all types. Start reading at By.
//
// slices.SortFunc is compiled once more for each type: ten functions, 25 kB of the program with
// their tables. A list that is long, or sorted often, is worth that; pointers, strings and numbers
// share one.
package sorting

import "sort"

// By sorts all; equal elements may change places.
func By[T any](all []T, compare func(a, b T) int) { sort.Slice(all, less(all, compare)) }

// Stable sorts all; equal elements keep their places.
func Stable[T any](all []T, compare func(a, b T) int) { sort.SliceStable(all, less(all, compare)) }

func less[T any](all []T, compare func(a, b T) int) func(i, j int) bool {
	return func(i, j int) bool { return compare(all[i], all[j]) < 0 }
}
