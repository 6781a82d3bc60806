package skiplist_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/skiplist"
)

// TestOff checks which of three backends a list turns off.
func TestOff(t *testing.T) {
	names := []string{"alpaca", "alpaca-work", "gibbon"}
	for _, name := range names {
		skiplist.Know(name)
	}
	skiplist.Know("gibbon-cli", "")
	for _, test := range []struct {
		list, off string // off: the first letters of the backends that are off
		doubts    []string
	}{
		{"", "", nil}, {" ,;", "", nil}, {"0", "", nil}, {"False", "", nil}, {"none", "", nil},
		{"1", "aag", nil}, {"ALL,", "aag", nil}, {" yes ", "aag", nil},
		{"alpaca", "a", nil}, {"ALPACA; Gibbon", "ag", nil}, {"alpaca-work", "a", nil}, {"gibbon-cli", "", nil},
		{"1,alpaca", "aag", []string{`"1" is mixed with backend names: all backends are turned off`}},
		{"alpaca true", "aag", []string{`"true" is mixed with backend names: all backends are turned off`}},
		{"gibbon,all", "aag", []string{`"all" is mixed with backend names: all backends are turned off`}},
		{"0,gibbon", "g", []string{`"0" is mixed with backend names: no backend is turned off`}},
		{"2", "aag", []string{`"2" is not a backend name: all backends are turned off`}},
		{"ture", "aag", []string{`"ture" is not a backend name: all backends are turned off`}},
		{"trueish", "aag", []string{`"trueish" is not a backend name: all backends are turned off`}},
		{"-1", "aag", []string{`"-1" is not a backend name: all backends are turned off`}},
		{"gibbno", "g", []string{`"gibbno" is not a backend name: gibbon is turned off`}},
		{"gib", "g", []string{`"gib" is not a backend name: gibbon, gibbon-cli are turned off`}},
		{"gibbon-3", "g", []string{`"gibbon-3" is not a backend name: gibbon is turned off`}},
		{"alpcaa", "a", []string{`"alpcaa" is not a backend name: alpaca is turned off`}},
		{"*", "aag", []string{`"*" is not a backend name: all backends are turned off`}},
		{"gibbon*", "g", []string{`"gibbon*" is not a backend name: gibbon, gibbon-cli are turned off`}},
		{"zebra", "", []string{`"zebra" is not a backend name: no backend is turned off`}},
		{"zebra,gibbon", "g", []string{`"zebra" is not a backend name: no backend is turned off`}},
		{"fasle", "", []string{`"fasle" is not a backend name: no backend is turned off`}},
	} {
		t.Run(test.list, func(t *testing.T) {
			off, doubtful := "", false
			for _, name := range names {
				is, doubt := skiplist.Off(test.list, name)
				if is {
					off += name[:1]
				}
				require.True(t, is || doubt == "")
				doubtful = doubtful || doubt != ""
			}
			require.Equal(t, test.off, off)
			require.Equal(t, test.doubts, skiplist.Doubts(test.list))
			require.True(t, test.doubts != nil || !doubtful, "a doubt that is not reported")
			all, _ := skiplist.Off(test.list, "")
			require.Equal(t, test.off == "aag", all)
		})
	}
}

// A backend that was not registered is also turned off by its name, without a doubt.
func TestOffUnregisteredName(t *testing.T) {
	off, doubt := skiplist.Off("heron,1", "heron")
	require.True(t, off)
	require.Empty(t, doubt)
	off, doubt = skiplist.Off("herno", "heron")
	require.True(t, off)
	require.Equal(t, `"herno" is not a backend name`, doubt)
}

func TestKnowLaterCallsSourceOnce(t *testing.T) {
	asked := 0
	skiplist.KnowLater(func() [][]string {
		asked++
		return [][]string{{"latecomer", "late-cli"}}
	})
	require.Zero(t, asked, "before a list is read")
	require.Empty(t, skiplist.Doubts("latecomer"))
	require.NotEmpty(t, skiplist.Doubts("latecomes"))
	require.Equal(t, 1, asked)
}

func TestOffNamed(t *testing.T) {
	skiplist.Know("Ibis", "ibis-cli", "", "bird")
	skiplist.Know("ibis-work", "ibis", "ibis-cli")
	for _, test := range []struct {
		list, name string
		off        bool
	}{
		{"ibis-cli", "ibis", true}, {"IBIS-CLI", "IBIS", true}, {"bird", "ibis", true}, {"ibis", "ibis-work", true},
		{"ibis-work", "ibis", false}, {"ibis", "ibis-cli", false}, {"ibis-cli", "ibis-cli", true}, {"ibis-cli", "", false},
		{"1", "", true}, {"", "ibis", false}, {"ibis-cli", "stork", false}, {"stork", "stork", true},
	} {
		off, _ := skiplist.OffNamed(test.list, test.name)
		require.Equal(t, test.off, off, "%s by %s", test.name, test.list)
	}
}
