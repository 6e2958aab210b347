package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

// startProfile takes a CPU profile of the server until the returned function is
// called; with an empty name it does nothing.
func startProfile(ctx context.Context, server *child, name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.http+"/debug/pprof/profile?seconds=4", nil)
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				_, err = io.Copy(f, resp.Body)
				err = firstError(err, resp.Body.Close())
			}
		}
		done <- firstError(err, f.Close())
	}()
	return func() error {
		if err := <-done; err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		return nil
	}, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
