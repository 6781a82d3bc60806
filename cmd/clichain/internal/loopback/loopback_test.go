package loopback_test

import (
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
	"github.com/stretchr/testify/require"
)

func TestIs(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1": true, "127.8.9.1:80": true, "[::1]": true, "[::1]:80": true,
		"::1": true, "[::ffff:127.0.0.1]:80": true,
		"": false, "[]": false, ":80": false, "localhost.": false, "localhost.evil.com": false, "127.0.0.1.evil.com": false,
		"evil.com": false, "10.0.0.1": false, "0.0.0.0": false, "[::]": false, "[fe80::1%lo]": false,
		"[::1%evil.com]": false, "[::1%evil.com]:80": false, "::1%evil.com": false, "[::1%25evil.com]": false,
		"[::ffff:127.0.0.1%evil.com]": false, "]localhost[": false, "[[::1]]": false, "[localhost": false, "localhost]": false,
	} {
		require.Equal(t, want, loopback.Is(loopback.HostOf(address)), "%q", address)
	}
}

func TestParse(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:80", "[::1]:80", "localhost:8080", "[::ffff:127.0.0.1]:80"} {
		got, err := loopback.Parse(address)
		require.NoError(t, err, address)
		require.Equal(t, address, got)
	}
	for _, address := range []string{"", ":8080", "0.0.0.0:80", "[::]:80", "127.0.0.1", "10.0.0.1:80", "example.com:80", "127.0.0.1.example.com:80"} {
		_, err := loopback.Parse(address)
		require.ErrorContains(t, err, "an address of this machine alone", address)
	}
}
