package sessionfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/session"
)

// A full log becomes the previous log, and the new log starts with the record of the latest session.
func TestFullLog(t *testing.T) {
	ownState(t)
	first, last := log{at(t)}, "\n"+strings.Repeat("x", maxLog)
	require.NoError(t, Save(handle, session.Record{Dir: "/first"}))
	require.NoError(t, first.add([]byte(last)), "the last record may exceed the limit")
	require.NotNil(t, Load(handle))
	require.NoFileExists(t, first.before())

	require.NoError(t, first.add([]byte("{}")))
	require.FileExists(t, first.before())
	text, err := os.ReadFile(first.path)
	require.NoError(t, err)
	require.Equal(t, "\n{}", string(text))
	require.Equal(t, "/first", Load(handle).Dir, "record of the previous log")

	require.NoError(t, Save(handle, session.Record{Dir: "/second"}))
	require.Equal(t, "/second", Load(handle).Dir, "the later of two records")
	require.NoError(t, first.add([]byte(last)))
	require.NoError(t, first.add([]byte("{}")))
	require.Equal(t, "/second", Load(handle).Dir)
	require.NoError(t, first.add([]byte(last)))
	require.NoError(t, first.add([]byte("{}")))
	require.Nil(t, Load(handle), "two logs are kept")
}

// If several writers find the log full, one of them starts a new log, and no line is lost.
func TestFullLogConcurrentWriters(t *testing.T) {
	ownState(t)
	l := log{at(t)}
	require.NoError(t, l.add([]byte(strings.Repeat("x", maxLog))))
	var adds sync.WaitGroup
	for i := range 8 {
		adds.Go(func() {
			for k := range 20 {
				if err := l.add(fmt.Appendf(nil, "%d-%d", i, k)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adds.Wait()
	text, err := os.ReadFile(l.path)
	require.NoError(t, err)
	require.Equal(t, 160, strings.Count(string(text), "\n"))
	left, err := os.ReadDir(filepath.Dir(l.path))
	require.NoError(t, err)
	require.Len(t, left, 3, "two logs and the lock")
}
