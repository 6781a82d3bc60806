package queue

import (
	"errors"
	"iter"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// numbers yields numbers from 0 to n-1, and then err if it is not nil.
func numbers(n int, err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(strconv.Itoa(i), nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

func TestInOrder(t *testing.T) {
	failure := errors.New("failure")
	for _, test := range []struct {
		name           string
		ids            int
		listing        error  // after the ids
		fails          string // id
		begun, changed int
		want           error
	}{
		{name: "none"},
		{name: "few", ids: 3, begun: 3, changed: 3},
		{name: "many", ids: 100, begun: 100, changed: 100},
		{name: "failed list", ids: 3, listing: failure, begun: 3, changed: 3, want: failure},
		{name: "failed change", ids: 100, fails: "20", begun: 20 + maxChanges, changed: 20 + maxChanges - 1, want: failure},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begun, running atomic.Int64
				release := make(chan struct{})
				go func() {
					synctest.Wait()
					require.EqualValues(t, min(test.ids, maxChanges), running.Load(), "at the same time")
					close(release)
				}()
				next, changed := 0, 0
				err := inOrder(numbers(test.ids, test.listing), func(id string) error {
					begun.Add(1)
					running.Add(1)
					<-release
					if id == test.fails {
						return failure
					}
					return nil
				}, func(id string, err error) error {
					require.Equal(t, strconv.Itoa(next), id)
					if next++; err == nil {
						changed++
					}
					return err
				})
				require.Equal(t, test.want, err)
				require.EqualValues(t, test.begun, begun.Load())
				require.Equal(t, test.changed, changed)
			})
		})
	}
}
