package openai

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1": true, "127.8.9.1:80": true, "[::1]": true, "[::1]:80": true,
		"::1": true, "[::ffff:127.0.0.1]:80": true,
		"": false, "[]": false, ":80": false, "localhost.": false, "localhost.evil.com": false, "127.0.0.1.evil.com": false,
		"evil.com": false, "10.0.0.1": false, "0.0.0.0": false, "[::]": false, "[fe80::1%lo]": false,
		"[::1%evil.com]": false, "[::1%evil.com]:80": false, "::1%evil.com": false, "[::1%25evil.com]": false,
		"[::ffff:127.0.0.1%evil.com]": false, "]localhost[": false, "[[::1]]": false, "[localhost": false, "localhost]": false,
	} {
		require.Equal(t, want, isLoopback(address), "%q", address)
	}
}
