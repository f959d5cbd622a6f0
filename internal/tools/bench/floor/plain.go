//go:build !least

package main

func begin(string) (commit, end func()) { return func() {}, func() {} }
