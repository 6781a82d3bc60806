package sessionfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
)

const handle = "lumen.YS0x"

// ownState gives the test a state of its own.
func ownState(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Setenv("LocalAppData", t.TempDir())
	} else {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
	}
}

// at is the file of the session's record.
func at(t *testing.T) string {
	t.Helper()
	path, err := pathOf(handle)
	require.NoError(t, err)
	return path
}

func TestRecords(t *testing.T) {
	ownState(t)
	require.Nil(t, Load(""))
	require.Nil(t, Load(handle))
	for _, want := range []session.Record{
		{},
		{Dir: "/work"},
		{Dir: "/no UTF-8 \xff\n", Used: &call.Usage{InputTokens: 3, CostUSD: new(0.0001)}},
		{Used: &call.Usage{CostUSD: new(0.0)}},
	} {
		require.NoError(t, Save(handle, want))
		require.Equal(t, &want, Load(handle))
	}
	require.Nil(t, Load("lumen.YS0y"), "another session")
	require.Nil(t, Load("lumen/../"+handle))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(at(t)), "*"))
	require.NoError(t, err)
	require.Len(t, left, 1, "no file of a save is left")
}

// A record that says something else than what Save wrote is none.
func TestBrokenRecords(t *testing.T) {
	ownState(t)
	other, err := json.Marshal(file{Session: "lumen.YS0y", Dir: []byte("/x")})
	require.NoError(t, err)
	for name, content := range map[string]string{
		"empty": "", "half": `{"session":"` + handle, "of another session": string(other), "no handle": `{"dir":"L3g="}`,
		"too big":            `{"session":"` + handle + `","dir":"` + strings.Repeat("QUFB", maxSize/4) + `"}`,
		"a negative count":   `{"session":"` + handle + `","used":{"turns":-1}}`,
		"a negative cost":    `{"session":"` + handle + `","used":{"cost_usd":-1}}`,
		"no number":          `{"session":"` + handle + `","used":{"cost_usd":1e999}}`,
		"a plain directory":  `{"session":"` + handle + `","dir":"/x"}`,
		"not what it is for": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Save(handle, session.Record{Dir: "/x"}))
			require.NotNil(t, Load(handle))
			require.NoError(t, os.WriteFile(at(t), []byte(content), 0o600))
			require.Nil(t, Load(handle))
		})
	}
}

// Of saves at the same time one wins, and nobody reads a mixture.
func TestRecordsAtOnce(t *testing.T) {
	ownState(t)
	require.NoError(t, Save(handle, session.Record{Dir: "0" + strings.Repeat("0", 999)}))
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			for range 50 {
				if err := Save(handle, session.Record{Dir: strings.Repeat(fmt.Sprint(i), 1000)}); err != nil {
					t.Error(err)
				}
				r := Load(handle)
				if r == nil || r.Dir != strings.Repeat(r.Dir[:1], 1000) {
					t.Errorf("read %v", r)
					return
				}
			}
		})
	}
	calls.Wait()
	left, err := os.ReadDir(filepath.Dir(at(t)))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// What nobody has gone on from for long is removed, once in a process.
func TestOldRecords(t *testing.T) {
	ownState(t)
	require.NoError(t, Save(handle, session.Record{}))
	dir := filepath.Dir(at(t))
	old, young := filepath.Join(dir, "old"), filepath.Join(dir, "young")
	write := func() {
		now := time.Now()
		for path, age := range map[string]time.Duration{old: keepFor + time.Hour, young: keepFor - time.Hour} {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		}
	}
	write()
	once = sync.Once{}
	require.NoError(t, Save(handle, session.Record{}))
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.NotNil(t, Load(handle))
	write()
	require.NoError(t, Save(handle, session.Record{}))
	require.FileExists(t, old, "later calls do not look")
}
