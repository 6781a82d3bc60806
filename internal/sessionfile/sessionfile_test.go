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

// ownState gives the test a separate state directory.
func ownState(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Setenv("LocalAppData", t.TempDir())
	} else {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
	}
}

// at returns the log file of the session.
func at(t *testing.T) string {
	t.Helper()
	l, err := logOf(handle)
	require.NoError(t, err)
	return l.path
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
	require.Len(t, left, 1, "Save leaves no temporary file")
}

// A record that Save did not write is ignored, and does not hide another record.
func TestBrokenRecords(t *testing.T) {
	ownState(t)
	other, err := json.Marshal(line{Session: "lumen.YS0y", At: time.Now().Unix(), Dir: []byte("/x")})
	require.NoError(t, err)
	now := fmt.Sprintf(`{"at":%d,"session":"%s"`, time.Now().Unix(), handle)
	old := fmt.Sprintf(`{"at":%d,"session":"%s"`, time.Now().Add(-keepFor-time.Hour).Unix(), handle)
	for name, content := range map[string]string{
		"empty": "", "half": now, "record of another session": string(other), "no handle": `{"dir":"L3g="}`,
		"too big":               now + `,"dir":"` + strings.Repeat("QUFB", maxSize/4) + `"}`,
		"negative count":        now + `,"used":{"turns":-1}}`,
		"negative cost":         now + `,"used":{"cost_usd":-1}}`,
		"no number":             now + `,"used":{"cost_usd":1e999}}`,
		"directory as a string": now + `,"dir":"/x"}`,
		"wrong type":            "[]",
		"too old":               old + `,"dir":"L3g="}`,
		"no time":               `{"session":"` + handle + `","dir":"L3g="}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(at(t), []byte(content), 0o600))
			require.Nil(t, Load(handle))
			require.NoError(t, Save(handle, session.Record{Dir: "/y"}))
			require.Equal(t, "/y", Load(handle).Dir)
		})
	}
	require.NoError(t, os.WriteFile(at(t), []byte("\n"+now+`,"dir":"L3g="}`+"\n"+now), 0o600))
	require.Equal(t, "/x", Load(handle).Dir, "the record before a partial line")
}

// Of concurrent saves one wins, and no reader gets a mixture.
func TestConcurrentSaves(t *testing.T) {
	ownState(t)
	require.NoError(t, Save(handle, session.Record{Dir: "0" + strings.Repeat("0", 999)}))
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			for range 20 {
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

// Records of unused sessions are removed after a time, once in a process.
func TestOldRecords(t *testing.T) {
	ownState(t)
	before := log{at(t)}.before()
	age := func(old time.Duration) {
		for _, path := range []string{at(t), before} {
			require.NoError(t, os.WriteFile(path, []byte("\n{}"), 0o600))
			require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(-old)))
		}
	}
	for _, test := range []struct {
		name  string
		again bool
		age   time.Duration
		stays bool
	}{
		{"young", true, keepFor - time.Hour, true},
		{"old", true, keepFor + time.Hour, false},
		{"later calls do not check", false, keepFor + time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			age(test.age)
			if test.again {
				removeOld = sync.Once{}
			}
			require.NoError(t, Save(handle, session.Record{}))
			require.NotNil(t, Load(handle))
			text, err := os.ReadFile(at(t))
			require.NoError(t, err)
			require.Equal(t, test.stays, strings.HasPrefix(string(text), "\n{}\n"))
			_, err = os.Stat(before)
			require.Equal(t, test.stays, err == nil)
		})
	}
}
