//go:build unix

package proc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sweep ends after two consecutive scans that found nothing. Scans that cannot classify a process count only
// after a limit.
func TestScanCount(t *testing.T) {
	type scan struct {
		found  int
		unsure bool
	}
	for _, test := range []struct {
		name  string
		scans []scan
		clean bool
	}{
		{"nothing twice", []scan{{}, {}}, true},
		{"nothing once", []scan{{}}, false},
		{"something between", []scan{{}, {found: 1}, {}}, false},
		{"something before", []scan{{found: 1}, {}, {}}, true},
		{"not sure between", []scan{{}, {unsure: true}, {}}, false},
		{"not sure before", []scan{{unsure: true}, {}, {}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c scanCount
			clean := false
			for _, s := range test.scans {
				clean = c.saw(s.found, s.unsure)
			}
			require.Equal(t, test.clean, clean)
		})
	}

	var c scanCount
	scans := 1
	for ; !c.saw(0, true); scans++ {
		c.backOff()
	}
	require.Equal(t, unsureScans+cleanScans, scans, "a process that can never be classified does not prevent the end of a sweep")
}
