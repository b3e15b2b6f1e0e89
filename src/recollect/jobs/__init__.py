"""What happens later, and when: workers take jobs out of the outbox and do them step by step."""
