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

// A full log is kept as the one before, and the next one begins with what is known of the latest session.
func TestFullLog(t *testing.T) {
	ownState(t)
	first, last := log{at(t)}, "\n"+strings.Repeat("x", maxLog)
	require.NoError(t, Save(handle, session.Record{Dir: "/first"}))
	require.NoError(t, first.add([]byte(last)), "the last that finds room may be longer than that")
	require.NotNil(t, Load(handle))
	require.NoFileExists(t, first.before())

	require.NoError(t, first.add([]byte("{}")))
	require.FileExists(t, first.before())
	text, err := os.ReadFile(first.path)
	require.NoError(t, err)
	require.Equal(t, "\n{}", string(text))
	require.Equal(t, "/first", Load(handle).Dir, "of the log before")

	require.NoError(t, Save(handle, session.Record{Dir: "/second"}))
	require.Equal(t, "/second", Load(handle).Dir, "the later of two")
	require.NoError(t, first.add([]byte(last)))
	require.NoError(t, first.add([]byte("{}")))
	require.Equal(t, "/second", Load(handle).Dir)
	require.NoError(t, first.add([]byte(last)))
	require.NoError(t, first.add([]byte("{}")))
	require.Nil(t, Load(handle), "two logs are kept")
}

// Of several that find the log full, one begins another, and no line is lost.
func TestFullLogAtOnce(t *testing.T) {
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
	require.Len(t, left, 3, "two logs, and the lock")
}
