"""What looks after memory: restoring, erasing, auditing, moving it between stores."""
