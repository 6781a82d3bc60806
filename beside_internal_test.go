package clichain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who begins goes on at once, and can wait for the end; it is done once for all.
func TestOrphansAreSoughtBesideTheFirstCall(t *testing.T) {
	proceed, did := make(chan struct{}), 0
	begin := beside(func() {
		select {
		case <-proceed:
		case <-time.After(time.Minute): // begin waits for it
		}
		did++
	})
	start := time.Now()
	first, second := begin(), begin()
	require.Less(t, time.Since(start), 30*time.Second)
	close(proceed)
	first()
	second()
	require.Equal(t, 1, did)
}
