package memlog_test

import (
	"testing"
	"time"

	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/ingestlog/logtest"
	"github.com/tallydb/tallydb/storage/ingestlog/memlog"
)

func TestConformance(t *testing.T) {
	logtest.Run(t, func(*testing.T) ingestlog.Log { return memlog.New(time.Now) })
}
