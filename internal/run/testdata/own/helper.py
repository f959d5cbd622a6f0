word = 'its own helper'
