//go:build !linux

package sessiondb_test

func limitFileSize(string) {}
