"""What several rooms' tests share: a missing tool, real processes and servers; no test lives here."""
