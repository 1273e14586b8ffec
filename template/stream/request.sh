curl -N -H 'content-type: text/plain' -d 'the model' localhost:3000/complete
# reads one word and says the next one as soon as it is found
