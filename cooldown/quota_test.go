package cooldown

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// aQuota returns what was reported just now.
func aQuota(used float64) Quota {
	now := time.Now().UTC().Round(0)
	return Quota{Account: "team", Backends: []string{"claude", "claude-work"}, Windows: []call.QuotaWindow{
		{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: now.Add(time.Hour), ObservedAt: now},
		{Name: "seven_day", Length: 168 * time.Hour, ObservedAt: now},
	}}
}

func putQuota(q Quota) func(Quota) Quota { return func(Quota) Quota { return q } }

func TestStoresKeepQuotas(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) QuotaStore{
		"memory": func(*testing.T) QuotaStore { return new(Memory) },
		"file": func(t *testing.T) QuotaStore {
			s, _ := fileStore(t, filepath.Join(t.TempDir(), "made", "when needed", "cooldowns.json"))
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t), t.Context()
			load := func(key string) Quota {
				q, err := s.LoadQuota(ctx, key)
				require.NoError(t, err)
				return q
			}
			require.Zero(t, load("a"))
			want := aQuota(0.5)
			require.NoError(t, s.UpdateQuota(ctx, "a", putQuota(want)))
			require.Equal(t, want, load("a"))
			*load("a").Windows[0].Used = 0.9
			require.Equal(t, want, load("a"), "a caller gets a copy")
			require.Zero(t, load("b"))
			require.NoError(t, s.Update(ctx, "a", put(aState(1))))
			require.NoError(t, s.UpdateQuota(ctx, "b", putQuota(aQuota(0.1))))
			require.NoError(t, s.UpdateQuota(ctx, "a", putQuota(Quota{Account: "team"})))
			require.Zero(t, load("a"), "no windows, no value")
			quotas, err := s.Quotas(ctx)
			require.NoError(t, err)
			require.Len(t, quotas, 1)
			require.Equal(t, load("b"), quotas["b"])
			state, err := s.Load(ctx, "a")
			require.NoError(t, err)
			require.Equal(t, 1, state.Failures, "cooldowns have keys of their own")

			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					for range 5 {
						add := func(q Quota) Quota {
							if len(q.Windows) == 0 {
								return aQuota(1.0 / 64)
							}
							*q.Windows[0].Used += 1.0 / 64
							return q
						}
						for s.UpdateQuota(ctx, "sum", add) != nil { // a holder of the lock may exceed the limit
						}
					}
				})
			}
			calls.Wait()
			require.InDelta(t, 40.0/64, *load("sum").Windows[0].Used, 1e-9)
		})
	}
}

// A program of an earlier version replaces the file of cooldowns, and keeps no other field of it.
func TestStoreFileKeepsQuotasBesideOlderProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	s, _ := fileStore(t, path)
	require.NoError(t, s.UpdateQuota(t.Context(), "a", putQuota(aQuota(0.5))))
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, []byte(`{"version": 1, "cooldowns": {}}`), 0o600))
	require.NoError(t, s.Update(t.Context(), "b", put(aState(1))))
	q, err := s.LoadQuota(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, q.Windows, 2)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	require.Len(t, fields, 2, "an earlier version knows version and cooldowns")
	if runtime.GOOS != "windows" {
		for _, name := range []string{"cooldowns.quota.json", "cooldowns.quota.json.lock"} {
			info, err := os.Stat(filepath.Join(filepath.Dir(path), name))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode(), name)
		}
	}
}

// A damaged file of quotas fails no call, and its content is kept. Cooldowns still work.
func TestStoreDamagedQuotaFile(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty":             {"", ""},
		"no quotas":         {`{"version":1}`, ""},
		"binary data":       {"\x00\x00", "renamed to"},
		"truncated JSON":    {`{"version":1,"quotas":{"a":{"account":"te`, "renamed to"},
		"invalid time":      {`{"version":1,"quotas":{"a":{"windows":[{"resets_at":"soon"}]}}}`, "renamed to"},
		"list of quotas":    {`{"version":1,"quotas":[1]}`, "renamed to"},
		"text as a version": {`{"version":"1","quotas":{}}`, "renamed to"},
		"later version":     {`{"version":2,"quotas":[1]}`, "newer than this program"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cooldowns.json")
			require.NoError(t, os.WriteFile(quotaPath(path), []byte(test.text), 0o600))
			s, warnings := fileStore(t, path, test.want)
			err := s.UpdateQuota(t.Context(), "a", putQuota(aQuota(0.5)))
			q, _ := s.LoadQuota(t.Context(), "a")
			if test.want == "newer than this program" {
				require.ErrorContains(t, err, test.want)
				require.Zero(t, q)
				data, err := os.ReadFile(quotaPath(path))
				require.NoError(t, err)
				require.Equal(t, test.text, string(data))
			} else {
				require.NoError(t, err)
				require.Len(t, q.Windows, 2)
			}
			require.Len(t, *warnings, min(len(test.want), 1))
			require.NoError(t, s.Update(t.Context(), "a", put(aState(1))))
			aside, err := filepath.Glob(quotaPath(path) + ".corrupt-*")
			require.NoError(t, err)
			require.Equal(t, test.want == "renamed to", len(aside) == 1)
		})
	}
	_, err := new(File).LoadQuota(t.Context(), "a")
	require.ErrorIs(t, err, errZeroFile)
	require.ErrorIs(t, new(File).UpdateQuota(t.Context(), "a", putQuota(Quota{})), errZeroFile)
}

// Only sane values leave a store, whatever its file contains.
func TestQuotaKept(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	window := func(change func(*call.QuotaWindow)) call.QuotaWindow {
		w := call.QuotaWindow{
			Name: "five_hour", Used: new(0.5), Length: 5 * time.Hour, ResetsAt: now.Add(time.Hour), ObservedAt: now,
		}
		change(&w)
		return w
	}
	for name, test := range map[string]struct{ change, want func(*call.QuotaWindow) }{
		"sane":                   {func(*call.QuotaWindow) {}, func(*call.QuotaWindow) {}},
		"no number":              {func(w *call.QuotaWindow) { w.Used = new(math.NaN()) }, func(w *call.QuotaWindow) { w.Used = nil }},
		"negative use":           {func(w *call.QuotaWindow) { w.Used = new(-0.1) }, func(w *call.QuotaWindow) { w.Used = nil }},
		"more than all":          {func(w *call.QuotaWindow) { w.Used = new(1.1) }, func(w *call.QuotaWindow) { w.Used = new(1.0) }},
		"infinite use":           {func(w *call.QuotaWindow) { w.Used = new(math.Inf(1)) }, func(w *call.QuotaWindow) { w.Used = nil }},
		"length of a year":       {func(w *call.QuotaWindow) { w.Length = 9000 * time.Hour }, func(w *call.QuotaWindow) { w.Length = 0 }},
		"reset next year":        {func(w *call.QuotaWindow) { w.ResetsAt = now.AddDate(1, 0, 0) }, func(w *call.QuotaWindow) { w.ResetsAt = time.Time{} }},
		"report from the future": {func(w *call.QuotaWindow) { w.ObservedAt = now.Add(time.Hour) }, func(*call.QuotaWindow) {}},
		"clock a bit ahead": {
			func(w *call.QuotaWindow) { w.ObservedAt = now.Add(time.Second) }, func(*call.QuotaWindow) {},
		},
		"ended a week ago": {
			func(w *call.QuotaWindow) { w.ResetsAt, w.ObservedAt = now.AddDate(0, 0, -7), now.AddDate(0, 0, -8) },
			func(w *call.QuotaWindow) { w.ResetsAt, w.ObservedAt = now.AddDate(0, 0, -7), now.AddDate(0, 0, -8) },
		},
		"ended long ago": {func(w *call.QuotaWindow) { w.ResetsAt, w.ObservedAt = now.AddDate(0, 0, -9), now.AddDate(0, 0, -10) }, nil},
		"no time":        {func(w *call.QuotaWindow) { w.ResetsAt, w.ObservedAt = time.Time{}, time.Time{} }, nil},
		"no name":        {func(w *call.QuotaWindow) { w.Name = "" }, nil},
		"escape in name": {func(w *call.QuotaWindow) { w.Name = "a\x1b[31m" }, nil},
		"long name":      {func(w *call.QuotaWindow) { w.Name = strings.Repeat("x", 201) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			kept := Quota{Windows: []call.QuotaWindow{window(test.change)}}.Kept(now)
			if test.want == nil {
				require.Zero(t, kept)
			} else {
				require.Equal(t, []call.QuotaWindow{window(test.want)}, kept.Windows)
			}
		})
	}
	q := Quota{Account: "te\x1bam", Backends: []string{"b", "", "a", "b", "\n"}}
	for i := range 40 {
		q.Windows = append(q.Windows, window(func(w *call.QuotaWindow) {
			w.Name, w.ResetsAt = fmt.Sprint("w", i%36), now.Add(time.Duration(i%36)*time.Hour)
		}))
		q.Backends = append(q.Backends, fmt.Sprintf("z%02d", i))
	}
	kept := q.Kept(now)
	require.Empty(t, kept.Account)
	require.Equal(t, []string{"a", "b", "z00"}, kept.Backends[:3])
	require.Len(t, kept.Backends, maxWindows)
	require.Len(t, kept.Windows, maxWindows)
	require.Equal(t, "w35", kept.Windows[0].Name, "the windows that end last")
}

// A store drops a window some time after its end, and above its limit the account without reports for the longest time.
func TestStoreQuotasAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	synctest.Test(t, func(t *testing.T) {
		file, _ := fileStore(t, path)
		for name, s := range map[string]QuotaStore{"memory": new(Memory), "file": file} {
			quotas := func() map[string]Quota {
				quotas, err := s.Quotas(context.Background())
				require.NoError(t, err)
				return quotas
			}
			for i := range maxQuotas + 5 {
				require.NoError(t, s.UpdateQuota(context.Background(), fmt.Sprint("key", i), putQuota(aQuota(0.5))))
				time.Sleep(time.Second)
			}
			require.Len(t, quotas(), maxQuotas, name)
			require.NotContains(t, quotas(), "key4", name)
			require.Contains(t, quotas(), "key5", name)
			time.Sleep(10 * 24 * time.Hour)
			require.Len(t, quotas()["key5"].Windows, 1, "%s: the week ended three days ago", name)
			time.Sleep(6 * 24 * time.Hour)
			require.Empty(t, quotas(), name)
		}
	})
	info, err := os.Stat(quotaPath(path))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(200<<10))
}
